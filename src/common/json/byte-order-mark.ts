const BYTE_ORDER_MARK = 0xfeff;

/**
 * Removes the byte order mark that some writers put before JSON. `JSON.parse` refuses it, but the standard allows
 * readers to ignore it: https://www.rfc-editor.org/rfc/rfc8259#section-8.1
 */
export const withoutByteOrderMark = (text: string): string =>
  text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
