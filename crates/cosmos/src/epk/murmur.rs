//! MurmurHash3: the 32-bit variant for x86 and the 128-bit variant for x64, both with seed 0,
//! implemented from its public description and tested by the effective partition keys in
//! `vectors.txt`.

pub(super) fn hash_32(data: &[u8]) -> u32 {
    const C1: u32 = 0xcc9e_2d51;
    const C2: u32 = 0x1b87_3593;
    let scramble = |k: u32| k.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let (blocks, tail) = data.as_chunks::<4>();
    let mut h = blocks.iter().fold(0_u32, |h, block| {
        let h = (h ^ scramble(u32::from_le_bytes(*block))).rotate_left(13);
        h.wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    h ^= scramble(u32::from_le_bytes(pad_block(tail)));
    // The algorithm uses the length modulo 2^32.
    h ^= data.len() as u32;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// Returns the 128-bit hash with its first half in the low bits.
pub(super) fn hash_128(data: &[u8]) -> u128 {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let scramble_1 = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let scramble_2 = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let halves = |block: &[u8; 16]| {
        let both = u128::from_le_bytes(*block);
        (both as u64, (both >> 64) as u64)
    };
    let (blocks, tail) = data.as_chunks::<16>();
    let (mut h1, mut h2) = (0_u64, 0_u64);
    for block in blocks {
        let (k1, k2) = halves(block);
        h1 = (h1 ^ scramble_1(k1)).rotate_left(27).wrapping_add(h2);
        h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 = (h2 ^ scramble_2(k2)).rotate_left(31).wrapping_add(h1);
        h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (k1, k2) = halves(&pad_block(tail));
    h1 ^= scramble_1(k1) ^ data.len() as u64;
    h2 ^= scramble_2(k2) ^ data.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = final_mix(h1);
    h2 = final_mix(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    u128::from(h2) << 64 | u128::from(h1)
}

/// The final mixing of the 128-bit variant, by which every input bit affects every bit of the hash.
fn final_mix(mut k: u64) -> u64 {
    k = (k ^ (k >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ (k >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}

/// Pads the last, incomplete block with zeros.
fn pad_block<const N: usize>(tail: &[u8]) -> [u8; N] {
    let mut block = [0; N];
    for (to, from) in block.iter_mut().zip(tail) {
        *to = *from;
    }
    block
}
