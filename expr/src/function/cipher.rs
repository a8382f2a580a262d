//! AES, compression, random bytes.
//!
//! AES_ENCRYPT works in the mode of `block_encryption_mode`: ECB and CBC pad to whole blocks (PKCS #7), CFB and OFB keep the length.
//! The key is folded into 128, 192 or 256 bits by XOR, as MySQL does, or derived by HKDF or PBKDF2 with SHA-512.

use super::row::{Null, Places, functions, named};
use super::rules::{self, LONG, bytes_of};
use super::string::too_large;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::session::{BlockEncryption, BlockMode};
use crate::tree::Expr;
use crate::typing;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use conditions::Condition;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use hmac::{Hmac, Mac};
use sha2::Sha512;
use std::borrow::Cow;
use types::work::{self, Stopped};
use types::{CollationId, Value};

const BLOCK_BYTES: usize = 16;
/// Most bytes that RANDOM_BYTES makes.
const RANDOM_BYTES_MAX: i128 = 1024;
const PBKDF2_ROUNDS_MIN: i128 = 1000;
const PBKDF2_ROUNDS_MAX: i128 = 65_535;

/// Work of a block, and of a round of PBKDF2, in bytes of a plain copy (`types::work`).
const BLOCK_UNITS: usize = 128;
const ROUND_UNITS: usize = 2048;
/// Work of compressing a byte.
const COMPRESS_UNITS: usize = 16;
/// Of decompression, by bytes that go in and come out.
const INFLATE_UNITS: usize = 4;
/// So much is compressed between two looks at the time.
const PIECE_BYTES: usize = 1 << 16;

type Block = [u8; BLOCK_BYTES];

functions! {
    Cipher;

    AES_DECRYPT = named(&[("AES_DECRYPT", 2, 6)])
        .typed(|_, args, _| Ok(typing::string(typing::text_length(&args[0]), CollationId::BINARY))).texts(Places::NONE)
        .length(|args| typing::text_length(&args[0])).note("as AES_ENCRYPT")
        => |env, _, args| aes(env, args, false);
    AES_ENCRYPT = named(&[("AES_ENCRYPT", 2, 6)])
        .typed(|_, args, _| Ok(typing::string((bytes_of(&args[0]) / 16 + 1) * 16, CollationId::BINARY))).texts(Places::NONE)
        .length(|args| ((bytes_of(&args[0]) / 16 + 1) * 16).min(LONG)).note("all of `block_encryption_mode`, HKDF, PBKDF2")
        => |env, _, args| aes(env, args, true);
    COMPRESS = named(&[("COMPRESS", 1, 1)])
        .typed(|_, args, _| Ok(typing::string(compressed_length(bytes_of(&args[0])), CollationId::BINARY)))
        .null(Null::Converted).texts(Places::NONE).length(|args| compressed_length(bytes_of(&args[0])).min(LONG))
        => |env, _, args| compress(env, &args[0]);
    UNCOMPRESS = named(&[("UNCOMPRESS", 1, 1)]).typed(rules::long_blob).texts(Places::NONE).length(|_| LONG)
        => |env, _, args| uncompress(env, &args[0]);
    UNCOMPRESSED_LENGTH = named(&[("UNCOMPRESSED_LENGTH", 1, 1)]).typed(rules::bigint).null(Null::AnyArgument).digits(10)
        => |env, _, args| uncompressed_length(env, &args[0]);
    RANDOM_BYTES = named(&[("RANDOM_BYTES", 1, 1)]).typed(rules::binary::<1024>).null(Null::Converted).integers(Places::only(0))
        .volatile()
        => |env, _, args| random_bytes(env, &args[0]);
}

fn compressed_length(bytes: u64) -> u64 {
    bytes + (bytes >> 12) + (bytes >> 14) + 18
}

fn owned<'a>(bytes: Vec<u8>) -> Value<'a> {
    Value::Bytes(Cow::Owned(bytes))
}

/// AES_ENCRYPT and AES_DECRYPT (text, key [, vector [, derivation [, salt [, info or rounds]]]]).
fn aes<'a>(env: &Env<'a>, args: &'a [Expr], encrypt: bool) -> Evaluated<'a> {
    let name = if encrypt { "aes_encrypt" } else { "aes_decrypt" };
    let BlockEncryption { key_bytes, mode } = env.session().block_encryption;
    let text = env.bytes(&args[0])?;
    let key = env.bytes(&args[1])?;
    let mut vector = [0; BLOCK_BYTES];
    if mode == BlockMode::Ecb {
        if args.len() == 3 {
            env.session().warn(Error::from(Condition::OptionIgnored));
        }
    } else {
        let Some(arg) = args.get(2) else {
            return Err(Error::from(Condition::WrongParamCountToNativeFct { function: name.into() }).into());
        };
        let given = env.bytes(arg)?.unwrap_or_default();
        let Some(start) = given.get(..BLOCK_BYTES) else {
            return Err(Error::from(Condition::AesInvalidIv { function: name.into(), bytes: BLOCK_BYTES.into() }).into());
        };
        vector.copy_from_slice(start);
    }
    let (Some(text), Some(key)) = (text, key) else { return Ok(Value::Null) };
    let key = match args.get(3) {
        None => fold_key(&key, key_bytes),
        Some(_) => match derived_key(env, &key, &args[3..], key_bytes)? {
            None => return Ok(Value::Null),
            Some(key) => key,
        },
    };
    let cipher = Cipher::new(&key);
    let result = if encrypt { Some(cipher.encrypt(&text, mode, vector)) } else { cipher.decrypt(&text, mode, vector) };
    work::finish()?;
    Ok(result.map_or(Value::Null, owned))
}

/// A key of any length folded into the cipher's.
fn fold_key(key: &[u8], length: usize) -> Vec<u8> {
    let mut folded = vec![0; length];
    for (n, byte) in key.iter().enumerate() {
        folded[n % length] ^= byte;
    }
    folded
}

/// The key by the derivation function that the arguments name.
fn derived_key<'a>(env: &Env<'a>, key: &[u8], args: &'a [Expr], length: usize) -> Step<Option<Vec<u8>>> {
    let Some(function) = env.text(&args[0])? else { return Ok(None) };
    let optional =
        |n: usize| -> Step<Cow<'a, [u8]>> { Ok(args.get(n).map(|arg| env.text(arg)).transpose()?.flatten().unwrap_or_default()) };
    let salt = optional(1)?;
    if function.eq_ignore_ascii_case(b"hkdf") {
        return Ok(Some(hkdf(key, &salt, &optional(2)?, length)));
    }
    if function.eq_ignore_ascii_case(b"pbkdf2_hmac") {
        let rounds = match args.get(2) {
            None => PBKDF2_ROUNDS_MIN,
            Some(arg) => env.integer(arg)?.unwrap_or(0),
        };
        if !(PBKDF2_ROUNDS_MIN..=PBKDF2_ROUNDS_MAX).contains(&rounds) {
            return Err(Error::from(Condition::AesInvalidKdfIterations {
                min: PBKDF2_ROUNDS_MIN.into(),
                max: PBKDF2_ROUNDS_MAX.into(),
            })
            .into());
        }
        return Ok(Some(pbkdf2(key, &salt, rounds as u32, length)?));
    }
    Err(Error::from(Condition::AesInvalidKdfName).into())
}

fn keyed(key: &[u8]) -> Hmac<Sha512> {
    <Hmac<Sha512> as Mac>::new_from_slice(key).expect("HMAC takes keys of any length")
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 64] {
    mac(keyed(key), parts)
}

fn mac(mut mac: Hmac<Sha512>, parts: &[&[u8]]) -> [u8; 64] {
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// RFC 5869; a key has at most one block of SHA-512.
fn hkdf(key: &[u8], salt: &[u8], info: &[u8], length: usize) -> Vec<u8> {
    let extracted = hmac(salt, &[key]);
    hmac(&extracted, &[info, &[1]])[..length].to_vec()
}

/// RFC 8018, one block.
fn pbkdf2(key: &[u8], salt: &[u8], rounds: u32, length: usize) -> Result<Vec<u8>, Stopped> {
    // A long key is read once, not once a round.
    let keyed = keyed(key);
    let mut round = mac(keyed.clone(), &[salt, &1u32.to_be_bytes()]);
    let mut sum = round;
    for _ in 1..rounds {
        work::spend(ROUND_UNITS)?;
        round = mac(keyed.clone(), &[&round]);
        sum.iter_mut().zip(round).for_each(|(sum, byte)| *sum ^= byte);
    }
    Ok(sum[..length].to_vec())
}

/// The block cipher with a key of one of the three lengths.
enum Cipher {
    Aes128(Box<aes::Aes128>),
    Aes192(Box<aes::Aes192>),
    Aes256(Box<aes::Aes256>),
}

impl Cipher {
    fn new(key: &[u8]) -> Self {
        const LENGTH: &str = "the key was folded to the cipher's length";
        match key.len() {
            16 => Self::Aes128(Box::new(aes::Aes128::new_from_slice(key).expect(LENGTH))),
            24 => Self::Aes192(Box::new(aes::Aes192::new_from_slice(key).expect(LENGTH))),
            _ => Self::Aes256(Box::new(aes::Aes256::new_from_slice(key).expect(LENGTH))),
        }
    }

    fn forward(&self, block: Block) -> Block {
        work::pass(BLOCK_UNITS);
        let mut block = block.into();
        match self {
            Self::Aes128(cipher) => cipher.encrypt_block(&mut block),
            Self::Aes192(cipher) => cipher.encrypt_block(&mut block),
            Self::Aes256(cipher) => cipher.encrypt_block(&mut block),
        }
        block.into()
    }

    fn backward(&self, block: Block) -> Block {
        work::pass(BLOCK_UNITS);
        let mut block = block.into();
        match self {
            Self::Aes128(cipher) => cipher.decrypt_block(&mut block),
            Self::Aes192(cipher) => cipher.decrypt_block(&mut block),
            Self::Aes256(cipher) => cipher.decrypt_block(&mut block),
        }
        block.into()
    }

    fn encrypt(&self, text: &[u8], mode: BlockMode, mut vector: Block) -> Vec<u8> {
        if !matches!(mode, BlockMode::Ecb | BlockMode::Cbc) {
            return self.stream(text, mode, vector, true);
        }
        let padding = BLOCK_BYTES - text.len() % BLOCK_BYTES;
        let mut out = text.to_vec();
        out.resize(text.len() + padding, padding as u8);
        for chunk in out.chunks_exact_mut(BLOCK_BYTES) {
            let mut block = whole(chunk);
            if mode == BlockMode::Cbc {
                xor(&mut block, &vector);
            }
            vector = self.forward(block);
            chunk.copy_from_slice(&vector);
        }
        out
    }

    /// `None`: the text was not made with this key and mode.
    fn decrypt(&self, text: &[u8], mode: BlockMode, mut vector: Block) -> Option<Vec<u8>> {
        if !matches!(mode, BlockMode::Ecb | BlockMode::Cbc) {
            return Some(self.stream(text, mode, vector, false));
        }
        if text.is_empty() || !text.len().is_multiple_of(BLOCK_BYTES) {
            return None;
        }
        let mut out = Vec::with_capacity(text.len());
        for chunk in text.chunks_exact(BLOCK_BYTES) {
            let mut block = self.backward(whole(chunk));
            if mode == BlockMode::Cbc {
                xor(&mut block, &vector);
                vector = whole(chunk);
            }
            out.extend_from_slice(&block);
        }
        let padding = usize::from(*out.last()?);
        let kept = out.len().checked_sub(padding)?;
        let valid = (1..=BLOCK_BYTES).contains(&padding) && out[kept..].iter().all(|b| usize::from(*b) == padding);
        out.truncate(kept);
        valid.then_some(out)
    }

    /// CFB with 1, 8 or 128 bits of feedback, and OFB.
    fn stream(&self, text: &[u8], mode: BlockMode, mut vector: Block, encrypt: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        match mode {
            BlockMode::Cfb1 => {
                for &byte in text {
                    let mut result = 0;
                    for bit in (0..8).rev() {
                        let input = byte >> bit & 1;
                        let output = input ^ self.forward(vector)[0] >> 7;
                        result |= output << bit;
                        shift_in(&mut vector, if encrypt { output } else { input });
                    }
                    out.push(result);
                }
            }
            BlockMode::Cfb8 => {
                for &byte in text {
                    let output = byte ^ self.forward(vector)[0];
                    out.push(output);
                    vector.rotate_left(1);
                    vector[BLOCK_BYTES - 1] = if encrypt { output } else { byte };
                }
            }
            _ => {
                for chunk in text.chunks(BLOCK_BYTES) {
                    let pad = self.forward(vector);
                    let start = out.len();
                    out.extend(chunk.iter().zip(pad).map(|(byte, pad)| byte ^ pad));
                    vector = pad;
                    if mode == BlockMode::Cfb128 {
                        let feedback = if encrypt { &out[start..] } else { chunk };
                        vector[..feedback.len()].copy_from_slice(feedback);
                    }
                }
            }
        }
        out
    }
}

fn whole(chunk: &[u8]) -> Block {
    chunk.try_into().expect("chunks are whole blocks")
}

fn xor(block: &mut Block, other: &Block) {
    block.iter_mut().zip(other).for_each(|(a, b)| *a ^= b);
}

/// One bit in from the right.
fn shift_in(vector: &mut Block, bit: u8) {
    let shifted = u128::from_be_bytes(*vector) << 1 | u128::from(bit);
    *vector = shifted.to_be_bytes();
}

/// Four bytes of length, little-endian, and a zlib stream; a trailing space gets a dot behind, so that CHAR columns keep it.
fn compress<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(text) = env.bytes(arg)? else { return Ok(Value::Null) };
    if text.is_empty() {
        return Ok(Value::Bytes(Cow::Borrowed(b"")));
    }
    let Ok(length) = u32::try_from(text.len()) else { return too_large(env, "compress") };
    let mut out = Vec::with_capacity(text.len() + text.len() / 1000 + 64);
    let mut compressor = Compress::new(Compression::default(), true);
    let mut pieces = text.chunks(PIECE_BYTES).peekable();
    while let Some(piece) = pieces.next() {
        let last = pieces.peek().is_none();
        let before = compressor.total_in();
        out.reserve(piece.len() + piece.len() / 1000 + 64);
        let flush = if last { FlushCompress::Finish } else { FlushCompress::None };
        let status = compressor.compress_vec(piece, &mut out, flush);
        let all = compressor.total_in() - before == piece.len() as u64;
        if !all || !matches!((status, last), (Ok(Status::StreamEnd), true) | (Ok(Status::Ok | Status::BufError), false)) {
            return Ok(Value::Null);
        }
        work::spend(piece.len() * COMPRESS_UNITS)?;
    }
    out.splice(..0, length.to_le_bytes());
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    if out.len() > env.session().packet_bytes_max {
        return too_large(env, "compress");
    }
    Ok(owned(out))
}

#[cold]
fn corrupted<'a>(env: &Env<'_>, condition: Condition) -> Evaluated<'a> {
    env.session().warn(condition.into());
    Ok(Value::Null)
}

fn declared_length(text: &[u8]) -> Option<usize> {
    let head = text.first_chunk::<4>().filter(|_| text.len() > 4)?;
    // Two bits are kept free.
    Some((u32::from_le_bytes(*head) & 0x3FFF_FFFF) as usize)
}

fn uncompress<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(text) = env.text(arg)? else { return Ok(Value::Null) };
    if text.is_empty() {
        return Ok(Value::Bytes(Cow::Borrowed(b"")));
    }
    let Some(length) = declared_length(&text) else { return corrupted(env, Condition::ZlibDataError) };
    let most = env.session().packet_bytes_max;
    if length > most {
        return corrupted(env, Condition::ZlibNotEnoughMemory { max: most.into() });
    }
    let mut out = Vec::with_capacity(length);
    let mut decompressor = Decompress::new(true);
    let mut part = vec![0; PIECE_BYTES.min(length + 1)];
    loop {
        let (read, written) = (decompressor.total_in(), decompressor.total_out());
        let status = decompressor.decompress(&text[4 + read as usize..], &mut part, FlushDecompress::None);
        let (read, written) = (decompressor.total_in() - read, (decompressor.total_out() - written) as usize);
        work::spend((read as usize + written) * INFLATE_UNITS)?;
        if out.len() + written > length {
            return corrupted(env, Condition::ZlibBufferTooSmall);
        }
        out.extend_from_slice(&part[..written]);
        match status {
            Ok(Status::StreamEnd) => return Ok(owned(out)),
            Ok(Status::Ok) if read > 0 || written > 0 => {}
            Ok(Status::BufError | Status::Ok) => return corrupted(env, Condition::ZlibBufferTooSmall),
            Err(_) => return corrupted(env, Condition::ZlibDataError),
        }
    }
}

fn uncompressed_length<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(text) = env.text(arg)? else { return Ok(Value::Null) };
    if text.is_empty() {
        return Ok(Value::Int(0));
    }
    match declared_length(&text) {
        Some(length) => Ok(Value::Int(length as i64)),
        None => {
            corrupted(env, Condition::ZlibDataError)?;
            Ok(Value::Int(0))
        }
    }
}

fn random_bytes<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(length) = env.integer(arg)? else { return Ok(Value::Null) };
    if !(1..=RANDOM_BYTES_MAX).contains(&length) {
        return Err(Error::OutOfRange { what: "length", expression: "random_bytes".into() }.into());
    }
    let mut bytes = vec![0; length as usize];
    os::fill_random(&mut bytes);
    Ok(owned(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197, appendix C.1.
    #[test]
    fn known_block() {
        let key: Vec<u8> = (0..16).collect();
        let text: Block = std::array::from_fn(|n| (n * 0x11) as u8);
        let expected = [0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a];
        assert_eq!(Cipher::new(&key).forward(text), expected);
    }

    #[test]
    fn every_mode_comes_back() {
        for key in [16, 24, 32].map(|n| vec![7; n]) {
            let cipher = Cipher::new(&key);
            for mode in [BlockMode::Ecb, BlockMode::Cbc, BlockMode::Cfb1, BlockMode::Cfb8, BlockMode::Cfb128, BlockMode::Ofb] {
                for length in [0, 1, 15, 16, 17, 40] {
                    let text: Vec<u8> = (0..length).collect();
                    let sealed = cipher.encrypt(&text, mode, [3; BLOCK_BYTES]);
                    assert_eq!(cipher.decrypt(&sealed, mode, [3; BLOCK_BYTES]).as_deref(), Some(&text[..]), "{mode:?} {length}");
                }
            }
        }
    }
}
