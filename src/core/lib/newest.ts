/** Adds an entry to a map that keeps its `most` newest ones. An entry that is set again becomes the newest. Pure: no I/O, no clock. */
export function setNewest<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
