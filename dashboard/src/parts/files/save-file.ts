/** The browser reads the content after the click. */
const READ_WITHIN_MS = 60_000;

/** Saves content that is in memory as a download of the browser. */
export function saveFile(content: Blob, name: string): void {
  const href = URL.createObjectURL(content);
  const link = Object.assign(document.createElement('a'), { href, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(href), READ_WITHIN_MS);
}
