const BYTE_ORDER_MARK = 0xfeff;

/**
 * A JSON text without the byte order mark that some writers put before it. `JSON.parse` refuses it; a reader may ignore
 * it: https://www.rfc-editor.org/rfc/rfc8259#section-8.1
 */
export const withoutByteOrderMark = (text: string): string =>
  text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
