//! Compressed bodies as what they hold, for the copy that is recorded. What passes is not touched.
//!
//! The server is asked not to compress. One that does it anyway is understood by the client,
//! which asked for nothing else, or would not be without us either.

use async_compression::tokio::write::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// So much is taken at once, in bytes: what it holds is not longer than memory allows.
const PIECE: usize = 1024;
/// A body of more than this, in bytes, that is `RATIO` times as long as what came of it is there
/// to fill memory and time.
const MUCH: u64 = 256 << 20;
const RATIO: u64 = 200;
/// Nothing that is no bomb has this much in one piece, in bytes.
const MOST_AT_ONCE: usize = 64 << 20;

/// A body that is decoded as it comes.
pub(super) struct Decoder {
    codec: Codec,
    taken: u64,
    given: u64,
    broken: bool,
}

enum Codec {
    Gzip(Box<GzipDecoder<Sink>>),
    /// `deflate` is zlib or bare, which the first bytes tell.
    Deflate(Vec<u8>),
    Zlib(Box<ZlibDecoder<Sink>>),
    Bare(Box<DeflateDecoder<Sink>>),
    Brotli(Box<BrotliDecoder<Sink>>),
    Zstd(Box<ZstdDecoder<Sink>>),
    Unknown(String),
}

/// Takes what is decoded; it is never full, so that nothing here waits.
#[derive(Default)]
struct Sink {
    bytes: Vec<u8>,
    limit: usize,
}

impl AsyncWrite for Sink {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.bytes.len() + bytes.len() > self.limit {
            return Poll::Ready(Err(io::Error::other("it holds far more than came")));
        }
        self.bytes.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Decoder {
    /// By the value of `Content-Encoding`; `None` if the body is as it is.
    pub(super) fn new(encoding: &str) -> Option<Decoder> {
        let sink = Sink::default;
        let name = encoding.trim().to_ascii_lowercase();
        let codec = match name.as_str() {
            "" | "identity" => return None,
            "gzip" | "x-gzip" => Codec::Gzip(Box::new(GzipDecoder::new(sink()))),
            "deflate" => Codec::Deflate(Vec::new()),
            "br" => Codec::Brotli(Box::new(BrotliDecoder::new(sink()))),
            "zstd" => Codec::Zstd(Box::new(ZstdDecoder::new(sink()))),
            _ => Codec::Unknown(name.chars().take(40).collect()),
        };
        Some(Decoder {
            codec,
            taken: 0,
            given: 0,
            broken: false,
        })
    }

    /// Takes the next bytes and gives `decoded` what they hold. After an error it gives nothing
    /// more.
    ///
    /// # Errors
    ///
    /// Why the body cannot be read.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        mut decoded: impl FnMut(&[u8]),
    ) -> Result<(), String> {
        if self.broken {
            return Ok(());
        }
        for piece in bytes.chunks(PIECE) {
            let pushed = self.piece(piece, &mut decoded);
            if let Err(why) = pushed {
                self.broken = true;
                return Err(why);
            }
        }
        Ok(())
    }

    /// The body is over: gives what is left of it.
    ///
    /// # Errors
    ///
    /// It ended in the middle.
    pub(super) fn finish(&mut self, mut decoded: impl FnMut(&[u8])) -> Result<(), String> {
        if std::mem::replace(&mut self.broken, true) {
            return Ok(());
        }
        self.run(&[], true, &mut decoded)
    }

    fn piece(&mut self, piece: &[u8], decoded: &mut impl FnMut(&[u8])) -> Result<(), String> {
        let Codec::Deflate(held) = &mut self.codec else {
            return self.run(piece, false, decoded);
        };
        held.extend_from_slice(piece);
        let [first, second, ..] = held[..] else {
            return Ok(());
        };
        let held = std::mem::take(held);
        let is_zlib = first & 0x0f == 8 && u16::from_be_bytes([first, second]) % 31 == 0;
        self.codec = match is_zlib {
            true => Codec::Zlib(Box::new(ZlibDecoder::new(Sink::default()))),
            false => Codec::Bare(Box::new(DeflateDecoder::new(Sink::default()))),
        };
        self.run(&held, false, decoded)
    }

    fn run(
        &mut self,
        piece: &[u8],
        last: bool,
        decoded: &mut impl FnMut(&[u8]),
    ) -> Result<(), String> {
        self.taken += length(piece);
        let most = (self.taken.saturating_mul(RATIO)).max(MUCH);
        let room = usize::try_from(most.saturating_sub(self.given)).unwrap_or(usize::MAX);
        let room = room.min(MOST_AT_ONCE);
        let name = self.codec.name();
        let failed = |error: io::Error| format!("{name}: {error}");
        let input = Input { piece, last, room };
        let given = match &mut self.codec {
            Codec::Gzip(codec) => write(codec.as_mut(), |c| c.get_mut(), &input),
            Codec::Zlib(codec) => write(codec.as_mut(), |c| c.get_mut(), &input),
            Codec::Bare(codec) => write(codec.as_mut(), |c| c.get_mut(), &input),
            Codec::Brotli(codec) => write(codec.as_mut(), |c| c.get_mut(), &input),
            Codec::Zstd(codec) => write(codec.as_mut(), |c| c.get_mut(), &input),
            Codec::Deflate(held) if held.is_empty() => Ok(Vec::new()),
            Codec::Deflate(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            Codec::Unknown(name) => return Err(format!("its encoding is {name}")),
        }
        .map_err(failed)?;
        self.given += length(&given);
        decoded(&given);
        Ok(())
    }
}

impl Codec {
    fn name(&self) -> &'static str {
        match self {
            Codec::Gzip(_) => "gzip",
            Codec::Deflate(_) | Codec::Zlib(_) | Codec::Bare(_) => "deflate",
            Codec::Brotli(_) => "br",
            Codec::Zstd(_) => "zstd",
            Codec::Unknown(_) => "its encoding",
        }
    }
}

/// What a decoder gets.
struct Input<'a> {
    piece: &'a [u8],
    /// Whether nothing follows.
    last: bool,
    /// How much it may give, in bytes.
    room: usize,
}

/// What the input makes a decoder give.
fn write<C: AsyncWrite + Unpin>(
    codec: &mut C,
    sink: impl Fn(&mut C) -> &mut Sink,
    input: &Input<'_>,
) -> io::Result<Vec<u8>> {
    sink(codec).limit = input.room;
    {
        let mut writing = std::pin::pin!(async {
            codec.write_all(input.piece).await?;
            match input.last {
                true => codec.shutdown().await,
                false => codec.flush().await,
            }
        });
        // The sink takes everything at once, so that there is nothing to wait for.
        let mut context = Context::from_waker(Waker::noop());
        match writing.as_mut().poll(&mut context) {
            Poll::Ready(written) => written?,
            Poll::Pending => return Err(io::Error::other("it stands still")),
        }
    }
    Ok(std::mem::take(&mut sink(codec).bytes))
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_compression::tokio::write::{
        BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder,
    };

    fn encoded(encoding: &str, text: &[u8]) -> Vec<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        macro_rules! encode {
            ($encoder:ident) => {
                runtime.block_on(async {
                    let mut encoder = $encoder::new(Vec::new());
                    encoder.write_all(text).await.unwrap();
                    encoder.shutdown().await.unwrap();
                    encoder.into_inner()
                })
            };
        }
        match encoding {
            "gzip" => encode!(GzipEncoder),
            "br" => encode!(BrotliEncoder),
            "zstd" => encode!(ZstdEncoder),
            "bare" => encode!(DeflateEncoder),
            _ => encode!(ZlibEncoder),
        }
    }

    fn decoded(name: &str, bytes: &[u8], size: usize) -> Result<Vec<u8>, String> {
        let mut decoder = Decoder::new(name).unwrap();
        let mut out = Vec::new();
        for piece in bytes.chunks(size) {
            decoder.push(piece, |bytes| out.extend_from_slice(bytes))?;
        }
        decoder.finish(|bytes| out.extend_from_slice(bytes))?;
        Ok(out)
    }

    #[test]
    fn what_servers_compress_is_read_in_pieces_of_any_size() {
        let text = "{\"jsonrpc\":\"2.0\",\"result\":{}}".repeat(500);
        for (encoding, name) in [
            ("gzip", "gzip"),
            ("gzip", "X-GZip"),
            ("zlib", "deflate"),
            ("bare", "deflate"),
            ("br", "br"),
            ("zstd", "zstd"),
        ] {
            let bytes = encoded(encoding, text.as_bytes());
            for size in [1, 7, bytes.len()] {
                let out = decoded(name, &bytes, size).unwrap();
                assert!(
                    out == text.as_bytes(),
                    "{encoding} by {size}: {}",
                    out.len()
                );
            }
        }
        for name in ["", "identity", " Identity "] {
            assert!(Decoder::new(name).is_none(), "{name:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_why_and_then_is_silent() {
        let whole = encoded("gzip", b"{\"a\":1}");
        let half = &whole[..whole.len() / 2];
        for (name, bytes) in [
            ("gzip", &b"this is no gzip"[..]),
            ("gzip", half),
            ("br", &[0xfe; 100]),
            ("zstd", &[0xfe; 100]),
            ("deflate", &[0xfe; 100]),
            ("deflate", b"x"),
            ("gzip, br", half),
            ("rot13", b"a"),
        ] {
            let mut decoder = Decoder::new(name).unwrap();
            let pushed = decoder.push(bytes, |_| {});
            let failed = pushed.and_then(|()| decoder.finish(|_| {}));
            assert!(failed.is_err(), "{name}");
            assert_eq!(decoder.push(b"more", |_| panic!("{name}")), Ok(()));
            assert_eq!(decoder.finish(|_| panic!("{name}")), Ok(()));
        }
    }

    #[test]
    fn a_bomb_is_given_up() {
        let mut decoder = Decoder::new("gzip").unwrap();
        let bomb = encoded("gzip", &vec![0; 8 << 20]);
        let mut given = 0;
        // As if as much had been given before as is ever taken from so few bytes.
        decoder.given = MUCH - (1 << 20);
        let failed = decoder.push(&bomb, |bytes| given += bytes.len());
        assert!(failed.unwrap_err().contains("far more"));
        assert!(given <= 1 << 20, "{given}");
    }
}
