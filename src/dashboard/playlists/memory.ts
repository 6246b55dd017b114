/**
 * Edits that are not saved yet, kept by the tab: a reload, a session that ends in the middle, or a look at another page loses
 * none of them.
 */
import type { Draft } from './draft.ts';

const keyOf = (id: string): string => `loopstream.playlist.${id}`;

/** undefined where nothing is kept, or what is kept cannot be read. */
export function recall(id: string): Draft | undefined {
  try {
    const text = sessionStorage.getItem(keyOf(id));
    const draft = text === null ? undefined : (JSON.parse(text) as Partial<Draft>);
    return draft?.base && Array.isArray(draft.entries) ? (draft as Draft) : undefined;
  } catch {
    return undefined;
  }
}

export function remember(id: string, draft: Draft | undefined): void {
  try {
    if (draft) sessionStorage.setItem(keyOf(id), JSON.stringify(draft));
    else sessionStorage.removeItem(keyOf(id));
  } catch {
    // Storage is forbidden or full: the edits live as long as the page does.
  }
}
