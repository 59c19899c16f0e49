//! Properties over random values in random encodings: encoding and decoding round-trips, truncated
//! bodies are refused, and damaged bodies decode to valid JSON values or fail.

use document::{Document, Value, json};
use fastrand::Rng;

use super::{FIRST, read_value, system::system_string};
use crate::limits::MAX_ITEM_BYTES;

const DEPTH: usize = 12;

/// Encodes values in randomly chosen encodings.
struct Writer {
    random: Rng,
    out: Vec<u8>,
    /// Offsets of the strings written so far.
    strings: Vec<(usize, String)>,
}

impl Writer {
    fn new(seed: u64) -> Self {
        Self { random: Rng::with_seed(seed), out: vec![FIRST], strings: Vec::new() }
    }

    fn number(&mut self, width: usize, number: u64) {
        self.out.extend_from_slice(&number.to_le_bytes()[..width]);
    }

    /// Chooses a width that can represent a length.
    fn width(&mut self, widths: &[usize], len: usize) -> Option<usize> {
        let fitting: Vec<usize> =
            widths.iter().filter(|width| len < 1 << (8 * **width)).copied().collect();
        self.random.choice(fitting)
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.random.u32(..if depth == 0 { 10 } else { 14 }) {
            0 => self.byte(0xd0, Value::Null),
            1 => self.byte(0xd1, Value::Bool(false)),
            2 => self.byte(0xd2, Value::Bool(true)),
            3 | 4 => self.whole(),
            5 => self.double(),
            6 => self.bytes(),
            7..=9 => Value::String(self.string(true)),
            10 if 2 <= depth => self.numbers(),
            10 | 11 => self.array(depth - 1),
            _ => Value::Document(self.object(depth - 1)),
        }
    }

    fn byte(&mut self, byte: u8, value: Value) -> Value {
        self.out.push(byte);
        value
    }

    fn whole(&mut self) -> Value {
        let number = self.random.i64(..) >> self.random.u32(..64);
        let mut forms: Vec<(u8, usize)> = vec![(0xcb, 8), (0xdb, 8)];
        let mut fits = |least: i64, most: i64, markers: &[u8], width: usize| {
            if (least..=most).contains(&number) {
                forms.extend(markers.iter().map(|marker| (*marker, width)));
            }
        };
        fits(0, 31, &[number as u8], 0);
        fits(0, 255, &[0xc8, 0xd7], 1);
        fits(-128, 127, &[0xd8], 1);
        fits(-32_768, 32_767, &[0xc9, 0xd9], 2);
        fits(i64::from(i32::MIN), i64::from(i32::MAX), &[0xca, 0xda], 4);
        fits(0, i64::from(u32::MAX), &[0xdc], 4);
        fits(0, i64::MAX, &[0xc7], 8);
        let (marker, width) = self.random.choice(forms).unwrap();
        self.out.push(marker);
        self.number(width, number as u64);
        Value::Int64(number)
    }

    fn double(&mut self) -> Value {
        match self.random.u32(..3) {
            0 => {
                let single = self.random.f32() * 1000.0;
                self.out.push(0xcd);
                self.out.extend_from_slice(&single.to_le_bytes());
                Value::Double(f64::from(single))
            }
            1 => {
                let large = self.random.u64(1 << 63..);
                self.out.push(0xc7);
                self.number(8, large);
                Value::Double(large as f64)
            }
            _ => {
                let double = f64::from(self.random.i32(..)) / 64.0;
                let marker = if self.random.bool() { 0xcc } else { 0xce };
                self.out.push(marker);
                self.number(8, double.to_bits());
                Value::Double(double)
            }
        }
    }

    fn random_bytes(&mut self, most: usize) -> Vec<u8> {
        let len = self.random.usize(..=most);
        (0..len).map(|_| self.random.u8(..)).collect()
    }

    /// Writes raw bytes or a GUID, which are strings in JSON.
    fn bytes(&mut self) -> Value {
        use base64::{Engine as _, engine::general_purpose::STANDARD};
        let bytes = self.random_bytes(300);
        let width = self.width(&[1, 2, 4], bytes.len()).unwrap();
        self.out.push([0, 0xdd, 0xde, 0, 0xdf][width]);
        self.number(width, bytes.len() as u64);
        self.out.extend_from_slice(&bytes);
        Value::String(STANDARD.encode(bytes))
    }

    fn string(&mut self, refers: bool) -> String {
        let start = self.out.len();
        let text = match self.random.u32(..8) {
            0 if refers && !self.strings.is_empty() => return self.earlier(),
            0 | 1 => {
                let number = self.random.u8(..32);
                self.out.push(0x20 + number);
                system_string(number).to_owned()
            }
            2 => self.guid(),
            3 => self.base64(),
            4 => self.halves(),
            5 => self.packed(),
            _ => self.plain(),
        };
        // Only some strings may be referenced, so that arrays and objects that contain no target,
        // and can therefore be moved, stay common.
        if self.random.u32(..4) == 0 {
            self.strings.push((start, text.clone()));
        }
        text
    }

    fn earlier(&mut self) -> String {
        let at = self.random.usize(..self.strings.len());
        let (at, text) = self.strings[at].clone();
        let width = self.width(&[1, 2, 3, 4], at).unwrap();
        self.out.push(0xc2 + width as u8);
        self.number(width, at as u64);
        text
    }

    fn plain(&mut self) -> String {
        let most = if self.random.u32(..20) == 0 { 400 } else { 70 };
        let len = self.random.usize(..most);
        let text: String = (0..len)
            .map(|_| self.random.choice(['a', 'Z', ' ', '"', '\\', '\n', 'é', '日', '😀']).unwrap())
            .collect();
        match self.random.bool() && text.len() < 64 {
            true => self.out.push(0x80 + text.len() as u8),
            false => {
                let width = self.width(&[1, 2, 4], text.len()).unwrap();
                self.out.push([0, 0xc0, 0xc1, 0, 0xc2][width]);
                self.number(width, text.len() as u64);
            }
        }
        self.out.extend_from_slice(text.as_bytes());
        text
    }

    fn guid(&mut self) -> String {
        let hex: Vec<u8> = (0..32).map(|_| self.random.u8(..16)).collect();
        let digit = |half: &u8| char::from_digit(u32::from(*half), 16).unwrap();
        let mut text: String = hex.iter().map(digit).collect();
        for at in [20, 16, 12, 8] {
            text.insert(at, '-');
        }
        let marker = self.random.u8(0x75..=0x77);
        self.out.push(marker);
        self.out.extend(hex.chunks(2).map(|pair| pair[0] | pair[1] << 4));
        match marker {
            0x76 => text.to_uppercase(),
            0x77 => format!("\"{text}\""),
            _ => text,
        }
    }

    fn base64(&mut self) -> String {
        use base64::{Engine as _, engine::general_purpose as forms};
        let bytes = self.random_bytes(100);
        let missing = (3 - bytes.len() % 3) as u8 % 3;
        let (url, wide) = (self.random.bool(), self.random.bool());
        let padded = missing == 0 || self.random.bool();
        self.out.push(0x71 + u8::from(wide) + 2 * u8::from(url));
        self.number(1 + usize::from(wide), bytes.len().div_ceil(3) as u64);
        self.out.push(if padded { missing } else { !missing });
        self.out.extend_from_slice(&bytes);
        match (url, padded) {
            (false, true) => forms::STANDARD.encode(bytes),
            (false, false) => forms::STANDARD_NO_PAD.encode(bytes),
            (true, true) => forms::URL_SAFE.encode(bytes),
            (true, false) => forms::URL_SAFE_NO_PAD.encode(bytes),
        }
    }

    fn halves(&mut self) -> String {
        let form = self.random.usize(..3);
        let all = [&b"0123456789abcdef"[..], b"0123456789ABCDEF", b" 0123456789:-.TZ"][form];
        let halves: Vec<u8> = (0..self.random.usize(..40)).map(|_| self.random.u8(..16)).collect();
        self.out.push(0x78 + form as u8);
        self.out.push(halves.len() as u8);
        let pairs = halves.chunks(2);
        self.out.extend(pairs.map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4));
        halves.iter().map(|half| char::from(all[usize::from(*half)])).collect()
    }

    fn packed(&mut self) -> String {
        let form = self.random.usize(..5);
        let bits = [4, 5, 6, 7, 7][form];
        let base = if form < 3 { self.random.u8(1..=0x80 - (1 << bits)) } else { 0 };
        // Names must not contain U+0000.
        let least = u8::from(base == 0);
        let codes: Vec<u8> =
            (0..self.random.usize(..60)).map(|_| self.random.u8(least..1 << bits)).collect();
        self.out.push(0x7b + form as u8);
        self.number(if form == 4 { 2 } else { 1 }, codes.len() as u64);
        if form < 3 {
            self.out.push(base);
        }
        let mut packed = vec![0; (codes.len() * bits).div_ceil(8)];
        for (at, code) in codes.iter().enumerate() {
            for bit in (0..bits).filter(|bit| code >> bit & 1 == 1) {
                let bit = at * bits + bit;
                packed[bit / 8] |= 1 << (bit % 8);
            }
        }
        self.out.extend(packed);
        codes.iter().map(|code| char::from(base + code)).collect()
    }

    /// Writes a random array of numbers, or an array of such arrays, and returns its value.
    fn numbers(&mut self) -> Value {
        let markers = [(0xd7, 1), (0xd8, 1), (0xd9, 2), (0xda, 4), (0xdb, 8), (0xdc, 4)];
        let (marker, width) = self.random.choice(markers).unwrap();
        let wide = self.random.u8(..2);
        let (len, rows) = (self.random.usize(..6), self.random.usize(..4));
        let nested = self.random.bool();
        match nested {
            true => self.out.extend([0xf2 + wide, 0xf0 + wide, marker]),
            false => self.out.extend([0xf0 + wide, marker]),
        }
        self.number(1 + usize::from(wide), len as u64);
        if nested {
            self.number(1 + usize::from(wide), rows as u64);
        }
        let mut row = || {
            let row = (0..len).map(|_| {
                let number = self.random.i64(..);
                self.out.extend_from_slice(&number.to_le_bytes()[..width]);
                Value::Int64(match marker {
                    0xd7 => i64::from(number as u8),
                    0xd8 => i64::from(number as i8),
                    0xd9 => i64::from(number as i16),
                    0xda => i64::from(number as i32),
                    0xdc => i64::from(number as u32),
                    _ => number,
                })
            });
            Value::Array(row.collect())
        };
        if nested { Value::Array((0..rows).map(|_| row()).collect()) } else { row() }
    }

    /// Writes an array or object of `count` elements: its marker, in some forms its length and
    /// count, and then what `inside` writes. `first` is the lowest marker of the type.
    fn framed<T>(&mut self, first: u8, count: usize, inside: impl FnOnce(&mut Self) -> T) -> T {
        if count < 2 && self.random.bool() {
            self.out.push(first + count as u8);
            return inside(self);
        }
        let at = self.out.len();
        let width = if self.random.bool() { 4 } else { 2 };
        let counted = self.random.bool();
        self.out.push(first + if width == 4 { 4 } else { 3 } + 3 * u8::from(counted));
        let head = width * (1 + usize::from(counted));
        self.out.extend(std::iter::repeat_n(0, head));
        let done = inside(self);
        let len = self.out.len() - at - 1 - head;
        assert!(len < 65_536, "values of these laws are small");
        self.out[at + 1..][..width].copy_from_slice(&(len as u64).to_le_bytes()[..width]);
        if counted {
            let count = (count as u64).to_le_bytes();
            self.out[at + 1 + width..][..width].copy_from_slice(&count[..width]);
        }
        // A narrow frame is possible only if no referenced string would move.
        let moves = self.strings.iter().any(|(string, _)| at < *string);
        if len < 256 && !moves {
            let inside = self.out.split_off(at + 1 + head);
            self.out.truncate(at);
            self.out.push(first + 2 + 3 * u8::from(counted));
            self.out.push(len as u8);
            self.out.extend(counted.then_some(count as u8));
            self.out.extend(inside);
        }
        done
    }

    fn array(&mut self, depth: usize) -> Value {
        let count = self.random.usize(..5);
        self.framed(0xe0, count, |writer| {
            Value::Array((0..count).map(|_| writer.value(depth)).collect())
        })
    }

    fn object(&mut self, depth: usize) -> Document {
        let count = self.random.usize(..5);
        self.framed(0xe8, count, |writer| {
            let mut document = Document::new();
            for _ in 0..count {
                let (len, strings) = (writer.out.len(), writer.strings.len());
                let mut name = writer.string(true);
                while document.get(&name).is_some() {
                    writer.out.truncate(len);
                    writer.strings.truncate(strings);
                    name = writer.string(true);
                }
                let value = writer.value(depth);
                document.push(name, value);
            }
            document
        })
    }
}

fn random(seed: u64) -> (Vec<u8>, Value) {
    let mut writer = Writer::new(seed);
    let value = Value::Document(writer.object(DEPTH / 2));
    (writer.out, value)
}

/// Checks that a decoded value equals the value parsed from its JSON text.
fn check(value: &Value, about: &str) {
    let text = json::to_string(value.as_ref());
    assert!(text.len() <= 7 * MAX_ITEM_BYTES, "{about}");
    assert_eq!(json::parse(text.as_bytes(), DEPTH).as_ref(), Ok(value), "{about}");
}

#[test]
fn what_is_written_is_read() {
    for seed in 0..8_000 {
        let (body, want) = random(seed);
        check(&want, &format!("seed {seed}"));
        assert_eq!(read_value(&body, DEPTH, MAX_ITEM_BYTES), Ok(want), "seed {seed}");
    }
}

#[test]
fn the_room_is_never_more_than_the_text() {
    for seed in 0..2_000 {
        let (body, want) = random(seed);
        let text = json::to_string(want.as_ref()).len();
        assert!(read_value(&body, DEPTH, text).is_ok(), "seed {seed}");
    }
}

#[test]
fn a_part_is_refused() {
    for seed in 0..2_000 {
        let (body, _) = random(seed);
        for end in 0..body.len() {
            assert!(read_value(&body[..end], DEPTH, MAX_ITEM_BYTES).is_err(), "seed {seed}, {end}");
        }
        let more = [&body[..], &[0]].concat();
        assert!(read_value(&more, DEPTH, MAX_ITEM_BYTES).is_err(), "seed {seed}");
    }
}

#[test]
fn damage_is_refused_or_read() {
    let (mut refused, mut good) = (0, 0);
    for seed in 0..16_000 {
        let (mut body, _) = random(seed);
        let mut random = Rng::with_seed(seed);
        for _ in 0..random.usize(1..4) {
            let at = random.usize(1..body.len().max(2));
            match (random.u32(..4), body.get_mut(at)) {
                (0, Some(byte)) => *byte ^= 1 << random.u32(..8),
                (1 | 2, Some(byte)) => *byte = random.u8(..),
                _ => body.insert(at.min(body.len()), random.u8(..)),
            }
        }
        match read_value(&body, DEPTH, MAX_ITEM_BYTES) {
            Ok(value) => {
                good += 1;
                check(&value, &format!("seed {seed}"));
            }
            Err(failure) => {
                refused += 1;
                assert!(matches!(failure.fault.status(), 400 | 413), "seed {seed}");
            }
        }
    }
    assert!(1_000 < good && 1_000 < refused, "{good} read, {refused} refused");
}
