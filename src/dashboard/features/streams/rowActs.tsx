import { IconCopyPlus, IconPlayerPlayFilled, IconPlayerStopFilled, IconTrash } from '@tabler/icons-react';
import { useMemo } from 'react';
import type { Stream } from '../../api/api.ts';
import { type Act, ActMenu, copyAct } from '../../ui/actMenu.tsx';
import { RoundButton } from '../../ui/roundButton.tsx';
import type { BulkKind } from './bulk.ts';
import { actionsIn, type PowerAction, stopAsks } from './phase.ts';
import { findStartWords, findStopWords, nameStop } from './power.ts';
import classes from './table.module.css';

export interface RowCalls {
  /** Asks first, where there is something to ask. */
  ask: (kind: BulkKind, streams: readonly Stream[]) => void;
  duplicate: (stream: Stream) => void;
}

export interface PowerCalls extends RowCalls {
  power: (wish: { stream: Stream; want: PowerAction }) => void;
}

/** The acts of the menu of a stream, wherever it is shown. */
export const useStreamActs = (stream: Stream, { ask, duplicate }: RowCalls): readonly Act[] =>
  useMemo(
    () => [
      { label: 'Duplicate…', icon: IconCopyPlus, run: () => duplicate(stream) },
      copyAct('Copy id', stream.id),
      { label: 'Delete stream…', icon: IconTrash, isDanger: true, run: () => ask('delete', [stream]) },
    ],
    [stream, ask, duplicate],
  );

/** Start or stop, and the menu: light, since a table has hundreds. */
export function RowActs({ stream, phase, calls }: { stream: Stream; phase: string; calls: PowerCalls }) {
  const acts = useStreamActs(stream, calls);
  const possible = actionsIn(phase);
  const { name } = stream;
  const start = findStartWords(phase, stream);
  const words = findStopWords(phase);
  const stop = () => (stopAsks(phase) ? calls.ask('stop', [stream]) : calls.power({ stream, want: 'stop' }));
  return (
    <div className={classes.buttons}>
      {possible.includes('stop') && (
        <RoundButton
          icon={IconPlayerStopFilled}
          size={16}
          aria-label={nameStop(words, name)}
          title={words.label}
          onClick={stop}
        />
      )}
      {(possible.includes('start') || possible.length === 0) && (
        <RoundButton
          icon={IconPlayerPlayFilled}
          size={16}
          aria-label={`${start.label} ${name}`}
          title={start.hint ?? start.label}
          disabled={possible.length === 0}
          onClick={() => calls.power({ stream, want: 'start' })}
        />
      )}
      <ActMenu isSmall label={`More actions for ${name}`} acts={acts} />
    </div>
  );
}
