import { type ReactNode, useMemo, useState } from 'react';
import type { Stream } from '../../api/api.ts';
import type { BulkKind } from './bulk.ts';
import { BulkDialog } from './bulkDialog.tsx';
import { DuplicateForm } from './duplicateForm.tsx';
import type { RowCalls } from './rowActs.tsx';

type Opened = { kind: BulkKind; streams: readonly Stream[] } | { kind: 'duplicate'; stream: Stream };

/** The dialogs of the acts on streams of a list: one of each, however many rows open them. */
export function useStreamDialogs(onDone: (failed: readonly Stream[]) => void): { calls: RowCalls; dialog: ReactNode } {
  const [opened, setOpened] = useState<Opened>();
  const calls = useMemo<RowCalls>(
    () => ({
      ask: (kind, streams) => setOpened({ kind, streams }),
      duplicate: (stream) => setOpened({ kind: 'duplicate', stream }),
    }),
    [],
  );
  const close = (failed?: readonly Stream[]) => {
    setOpened(undefined);
    if (failed) onDone(failed);
  };
  if (!opened) return { calls, dialog: null };
  if (opened.kind === 'duplicate')
    return { calls, dialog: <DuplicateForm stream={opened.stream} onClose={() => close()} /> };
  return { calls, dialog: <BulkDialog kind={opened.kind} streams={opened.streams} onClose={close} /> };
}
