/** Reloads the page, unless the browser would then show its own error page. Resolves to false where the server cannot be reached. */
export async function reloadIfReachable(): Promise<boolean> {
  const isReachable = await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isReachable) location.reload();
  return isReachable;
}
