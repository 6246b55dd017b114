/**
 * What has been chosen of a stream that is not made yet. It is kept in the tab, so that going back, a reload or a session that
 * ends in the middle loses nothing. No secret is in it: the key of a channel is sent where it is entered.
 */
import { useCallback, useState } from 'react';
import type { Stream } from '../api.ts';

export interface Draft {
  source: 'link' | 'upload' | 'playlist';
  /** The link that `uploadID` was made from. */
  link: string;
  uploadID: string;
  playlistID: string;
  destinationID: string;
  name: string;
  quality: Stream['quality'];
  framerate: Stream['framerate'];
}

export const EMPTY_DRAFT: Draft = {
  source: 'link',
  link: '',
  uploadID: '',
  playlistID: '',
  destinationID: '',
  name: '',
  quality: 'q_1080p',
  framerate: 'f_30',
};

const KEY = 'loopstream.new-stream';

/** Whatever is kept there: fields of another version, or of somebody else, are left out. */
export function draftFrom(text: string | null): Draft {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? '{}');
  } catch {
    return EMPTY_DRAFT;
  }
  if (typeof kept !== 'object' || kept === null) return EMPTY_DRAFT;
  const fields = Object.entries(kept).filter(
    ([name, value]) => typeof value === 'string' && typeof EMPTY_DRAFT[name as keyof Draft] === 'string',
  );
  return { ...EMPTY_DRAFT, ...Object.fromEntries(fields) };
}

const storage = (): Storage | undefined => {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
};

export function useDraft() {
  const [draft, setDraft] = useState(() => draftFrom(storage()?.getItem(KEY) ?? null));
  const change = useCallback((more: Partial<Draft>) => {
    setDraft((before) => {
      const after = { ...before, ...more };
      storage()?.setItem(KEY, JSON.stringify(after));
      return after;
    });
  }, []);
  const forget = useCallback(() => storage()?.removeItem(KEY), []);
  return { draft, change, forget };
}
