/** Does the same to several streams: asks first where viewers or data are lost, shows how far it is, and names what failed. */
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { type ActFailure, runAll } from '../../lib/runAll.ts';
import { isMissing } from '../../ui/deleteDialog.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { Name } from '../../ui/name.tsx';
import page from '../../ui/page.module.css';
import { Bar } from '../../ui/page.tsx';
import { DELETE_MS } from './actions.tsx';
import classes from './bulk.module.css';
import {
  BULK_WORDS,
  type BulkKind,
  countStreams,
  formatConsequence,
  groupFailures,
  nameAct,
  needsQuestion,
} from './bulk.ts';
import { isRunning } from './phase.ts';
import { startNow, useIntents } from './queries.ts';

/** More names than these are counted. */
const NAMED = 8;

function Names({ streams }: { streams: readonly Stream[] }) {
  return (
    <ul className={classes.names}>
      {streams.slice(0, NAMED).map(({ id, name }) => (
        <li key={id}>
          <Name isCut>{name}</Name>
        </li>
      ))}
      {streams.length > NAMED && <li>and {streams.length - NAMED} more</li>}
    </ul>
  );
}

function Failures({ failures }: { failures: readonly ActFailure<Stream>[] }) {
  return (
    <div className={forms.problem} role="alert" data-testid="bulk-failures">
      {groupFailures(failures).map(({ reason, streams }) => (
        <div key={reason}>
          <p>{reason}</p>
          <Names streams={streams} />
        </div>
      ))}
    </div>
  );
}

/** Runs one kind of act over streams. */
function useBulk(kind: BulkKind) {
  const api = useApi();
  const { streams } = api.calls;
  const queries = useQueryClient();
  const intents = useIntents();
  const [progress, setProgress] = useState<{ total: number; over: number }>();
  const [failures, setFailures] = useState<ActFailure<Stream>[]>();
  const stopping = useRef<AbortController>(undefined);
  const act = async (stream: Stream): Promise<void> => {
    // A stream that somebody else has deleted counts as deleted.
    if (kind === 'delete')
      return streams.delete(stream.id, { timeoutMs: DELETE_MS }).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    intents.set(stream.id, kind);
    await (kind === 'start' ? startNow(api, stream) : streams.stop(stream.id)).catch((error: unknown) => {
      intents.clear(stream.id);
      throw error;
    });
  };
  const run = async (wanted: readonly Stream[]): Promise<ActFailure<Stream>[]> => {
    stopping.current = new AbortController();
    setFailures(undefined);
    setProgress({ total: wanted.length, over: 0 });
    const onOver = () => setProgress((before) => before && { ...before, over: before.over + 1 });
    const failed = await runAll(wanted, { act, onOver, signal: stopping.current.signal });
    setProgress(undefined);
    setFailures(failed);
    await queries.invalidateQueries({ queryKey: ['streams'] });
    return failed;
  };
  return { run, progress, failures, end: () => stopping.current?.abort() };
}

interface BulkDialogProps {
  kind: BulkKind;
  streams: readonly Stream[];
  /** With the streams that it failed for; undefined where nothing was done. */
  onClose: (failed?: readonly Stream[]) => void;
}

export function BulkDialog({ kind, streams, onClose }: BulkDialogProps) {
  const { doing, done } = BULK_WORDS[kind];
  const { run, progress, failures, end } = useBulk(kind);
  const [asks] = useState(() => needsQuestion(kind, streams));
  const begin = async (wanted: readonly Stream[]) => {
    const failed = await run(wanted);
    if (failed.length > 0) return;
    notifications.show({ message: `${countStreams(wanted.length)} ${wanted.length === 1 ? 'was' : 'were'} ${done}.` });
    onClose([]);
  };
  const begun = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what needs no question begins once, when the dialog opens.
  useEffect(() => {
    if (asks || begun.current) return;
    begun.current = true;
    void begin(streams);
  }, []);
  const failed = failures?.map(({ item }) => item) ?? [];

  if (failed.length > 0 && failures && !progress)
    return (
      <Dialog
        title={`${countStreams(failed.length)} of ${streams.length} ${failed.length === 1 ? 'was' : 'were'} not ${done}`}
        onClose={() => onClose(failed)}
      >
        <Failures failures={failures} />
        <DialogActions>
          <Button variant="default" onClick={() => onClose(failed)}>
            Close
          </Button>
          <Button variant={kind === 'start' ? 'filled' : 'danger'} onClick={() => begin(failed)} data-autofocus>
            Try {failed.length === 1 ? 'it' : `these ${failed.length}`} again
          </Button>
        </DialogActions>
      </Dialog>
    );
  if (progress || !asks)
    return (
      <Dialog title={`${doing} ${countStreams(progress?.total ?? streams.length)}`} onClose={end} busy>
        <Bar value={progress && progress.over / progress.total} label={doing} />
        <p className={page.dim} role="status">
          {progress?.over ?? 0} of {progress?.total ?? streams.length} done
        </p>
        <DialogActions>
          <Button variant="default" onClick={end} data-autofocus>
            Leave the others as they are
          </Button>
        </DialogActions>
      </Dialog>
    );
  const what = streams.length === 1 ? 'this stream' : countStreams(streams.length);
  const keep = streams.length === 1 ? 'Keep it' : 'Keep them';
  const act = `${nameAct(kind, streams)} ${what}`;
  return (
    <Dialog title={`${act}?`} onClose={() => onClose()}>
      <Names streams={streams} />
      <p className={forms.explanation}>{formatConsequence(kind, streams)}</p>
      <DialogActions>
        <Button variant="default" onClick={() => onClose()} data-autofocus>
          {kind === 'stop' && streams.some(({ status }) => isRunning(status)) ? 'Keep on air' : keep}
        </Button>
        <Button variant="danger" onClick={() => begin(streams)} data-testid="bulk-confirm">
          {act}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
