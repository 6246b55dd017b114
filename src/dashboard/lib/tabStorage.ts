export type TabStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

function find(open: () => Storage): TabStorage {
  try {
    const storage = open();
    storage.getItem('loopstream.key');
    return storage;
  } catch {
    const values = new Map<string, string>();
    return {
      getItem: (key) => values.get(key) ?? null,
      setItem: (key, value) => void values.set(key, value),
      removeItem: (key) => void values.delete(key),
    };
  }
}

/** Storage of this tab, or of this page alone where the browser forbids storage. */
export const tabStorage: TabStorage = find(() => sessionStorage);

/** Storage of all tabs of the browser, or of this page alone. */
export const sharedStorage: TabStorage = find(() => localStorage);
