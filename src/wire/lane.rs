//! Which stream of a transport a message travels on.

/// All that the recorder and the replayer know of a transport.
///
/// The numbers of HTTP lanes are given by the transport: one for each request, in the order
/// in which they began, so that a POST and the GET beside it never share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(dead_code, reason = "the transport over HTTP makes POST and GET lanes")]
pub(crate) enum Lane {
    /// The two pipes of a child process: what either side says.
    Stdio,
    /// One POST: the client's body and what the server answers on it.
    Post(u32),
    /// One GET: what the server says on the stream that it opened.
    Get(u32),
}
