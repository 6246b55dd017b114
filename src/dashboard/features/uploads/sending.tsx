/** Sends files on every page: a person who goes elsewhere in the dashboard does not stop them. */
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { useApi } from '../../api/context.tsx';
import { useMe } from '../../api/me.ts';
import { type GuessType, Sender, type Sending } from './sender.ts';
import { browserStorage, UnfinishedUploads } from './unfinished.ts';

interface AccountFiles {
  sender: Sender;
  memory: UnfinishedUploads;
}
const FilesContext = createContext<AccountFiles | undefined>(undefined);

const NOTHING: readonly Sending[] = [];
const silent = () => () => undefined;

/** undefined until the account is known. */
export const useFiles = (): AccountFiles | undefined => use(FilesContext);

/** Sends files; those that are chosen before the account is known go as soon as it is. */
export function useSend(guessType?: GuessType): (chosen: readonly File[]) => void {
  const sender = useFiles()?.sender;
  const early = useRef<File[]>([]);
  useEffect(() => {
    if (sender && early.current.length > 0) sender.add(early.current.splice(0), guessType);
  }, [sender, guessType]);
  return (chosen) => {
    if (sender) sender.add([...chosen], guessType);
    else early.current.push(...chosen);
  };
}

export function useSendings(): readonly Sending[] {
  const sender = useFiles()?.sender;
  return useSyncExternalStore(sender?.subscribe ?? silent, sender?.get ?? (() => NOTHING));
}

/** Asks before the window is closed while files are on their way: they would have to be chosen again. */
function useWarning(sender: Sender | undefined): void {
  useEffect(() => {
    if (!sender) return;
    const warn = (event: BeforeUnloadEvent) => {
      if (sender.get().some(({ state }) => state === 'sending' || state === 'waiting')) event.preventDefault();
    };
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [sender]);
}

/** Stands above all pages of one account. */
export function SendingProvider({ children }: { children: ReactNode }) {
  const api = useApi();
  const queries = useQueryClient();
  const accountId = useMe().data?.id;
  const files = useMemo(() => {
    if (accountId === undefined) return undefined;
    const memory = new UnfinishedUploads(browserStorage(), accountId);
    const sender = new Sender(api, memory);
    sender.onChanged = () => void queries.invalidateQueries({ queryKey: ['uploads'] });
    return { sender, memory };
  }, [api, accountId, queries]);
  useEffect(() => () => files?.sender.stop(), [files]);
  useWarning(files?.sender);
  return <FilesContext value={files}>{children}</FilesContext>;
}
