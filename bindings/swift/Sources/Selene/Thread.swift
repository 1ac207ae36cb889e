// A thread for a call that blocks: tasks have as many threads as there are processors, and handlers may be among them.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

private final class Start {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Makes a call on a thread of its own, and waits for it without keeping the present one.
///
/// - Throws: what the call throws; `exhausted` where the system refuses a thread.
func onThread<Result: Sendable>(
  _ call: @escaping @Sendable () throws(SeleneError) -> Result
) async throws(SeleneError) -> Result {
  let result: Swift.Result<Result, SeleneError> = await withCheckedContinuation { continuation in
    let start = Unmanaged.passRetained(
      Start {
        do throws(SeleneError) { continuation.resume(returning: .success(try call())) } catch {
          continuation.resume(returning: .failure(error))
        }
      })
    var thread = pthread_t()
    let refused = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, start.toOpaque())
    if refused == 0 {
      pthread_detach(thread)
    } else {
      start.release()
      continuation.resume(returning: .failure(.noThread))
    }
  }
  return try result.get()
}
