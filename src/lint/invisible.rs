pub(crate) mod class;
