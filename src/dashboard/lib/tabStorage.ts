/** Storage of this tab, or of this page alone where the browser forbids storage. */
export type TabStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

function find(): TabStorage {
  try {
    sessionStorage.getItem('loopstream.key');
    return sessionStorage;
  } catch {
    const values = new Map<string, string>();
    return {
      getItem: (key) => values.get(key) ?? null,
      setItem: (key, value) => void values.set(key, value),
      removeItem: (key) => void values.delete(key),
    };
  }
}

export const tabStorage: TabStorage = find();
