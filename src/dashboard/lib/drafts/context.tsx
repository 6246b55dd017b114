import { useMemo } from 'react';
import { useMe } from '../../features/streams/queries.ts';
import { tabStorage } from '../tabStorage.ts';
import { readDraft, writeDraft } from './store.ts';

/** The drafts of the account that is signed in. `known`: whose they would be; until then nothing is found and nothing kept. */
export function useDrafts() {
  const { data, isPending } = useMe();
  const account = data?.id;
  return useMemo(
    () => ({
      known: !isPending,
      read: (name: string) => (account === undefined ? undefined : readDraft(tabStorage, account, name)),
      write: (name: string, draft: unknown) => {
        if (account !== undefined) writeDraft(tabStorage, account, name, draft);
      },
    }),
    [account, isPending],
  );
}
