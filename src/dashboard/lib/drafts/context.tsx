/** Gives the drafts of one account to all forms of the page. */
import { createContext, type ReactNode, use, useMemo } from 'react';
import { tabStorage } from '../tabStorage.ts';
import { readDraft, writeDraft } from './store.ts';

interface Drafts {
  /** Whether the account is known. Until then nothing is found and nothing kept. */
  known: boolean;
  read: (name: string) => unknown;
  /** `undefined` forgets the draft. */
  write: (name: string, draft: unknown) => void;
}

const DraftsContext = createContext<Drafts | undefined>(undefined);

interface DraftsProviderProps {
  /** The id of the account that is signed in; undefined while it is not known. */
  account: string | undefined;
  /** The account is being asked for. */
  pending: boolean;
  children: ReactNode;
}

export function DraftsProvider({ account, pending, children }: DraftsProviderProps) {
  const drafts = useMemo(
    () => ({
      known: !pending,
      read: (name: string) => (account === undefined ? undefined : readDraft(tabStorage, account, name)),
      write: (name: string, draft: unknown) => {
        if (account !== undefined) writeDraft(tabStorage, account, name, draft);
      },
    }),
    [account, pending],
  );
  return <DraftsContext value={drafts}>{children}</DraftsContext>;
}

export function useDrafts(): Drafts {
  const drafts = use(DraftsContext);
  if (drafts === undefined) throw new Error('Drafts are used outside their provider');
  return drafts;
}
