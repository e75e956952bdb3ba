//! stub
/// x
#[derive(Clone, Debug, Default)]
pub struct Entropy {
    pub enabled: bool,
}
