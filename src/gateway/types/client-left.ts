/** The client went away before its request was whole. No answer is written. */
export class ClientLeft extends Error {
  override readonly name = 'ClientLeft';
}
