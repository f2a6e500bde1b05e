/** The client disconnected before its request was complete. No response is sent. */
export class ClientLeft extends Error {
  override readonly name = 'ClientLeft';
}
