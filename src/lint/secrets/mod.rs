//! stub
/// x
#[derive(Clone, Debug, Default)] pub struct Entropy { 
/// x
pub enabled: bool, 
/// x
pub min_bits: f64, 
/// x
pub min_length: usize, 
/// x
pub allow: Vec<String> }
