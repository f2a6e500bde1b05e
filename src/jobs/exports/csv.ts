/** Characters that spreadsheets take for the start of a formula; the last four are the full-width forms of the first. */
const FORMULA = new Set(['=', '+', '-', '@', '\t', '\r', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20']);

/**
 * A CSV record with its line end. Cells that a spreadsheet would take for a formula get a leading apostrophe, and every cell that is not
 * empty is quoted, so that client text cannot start another cell: https://owasp.org/www-community/attacks/CSV_Injection and
 * https://www.rfc-editor.org/rfc/rfc4180
 *
 * Written by hand because a general writer decides for each cell how to write it, which took most of the time.
 */
export function csvRecord(cells: readonly string[]): string {
  // An empty line is not a record: readers skip it.
  if (cells.length === 1 && cells[0] === '') return '""\r\n';
  let record = '';
  let comma = '';
  for (const cell of cells) {
    record += comma + csvCell(cell);
    comma = ',';
  }
  return `${record}\r\n`;
}

function csvCell(text: string): string {
  if (text === '') return '';
  const safe = text.includes('"') ? text.replaceAll('"', '""') : text;
  return FORMULA.has(text.charAt(0)) ? `"'${safe}"` : `"${safe}"`;
}
