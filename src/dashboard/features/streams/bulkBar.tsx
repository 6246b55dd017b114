import { Button, CloseButton } from '@mantine/core';
import { IconPlayerPlayFilled, IconPlayerStopFilled, IconTrash, type TablerIcon } from '@tabler/icons-react';
import type { Stream } from '../../api/api.ts';
import classes from './bulk.module.css';
import { BULK_WORDS, type BulkKind, countStreams, listActedOn } from './bulk.ts';

const ICONS: Record<BulkKind, TablerIcon> = {
  start: IconPlayerPlayFilled,
  stop: IconPlayerStopFilled,
  delete: IconTrash,
};

interface BulkBarProps {
  selected: readonly Stream[];
  onAct: (kind: BulkKind, streams: readonly Stream[]) => void;
  onClear: () => void;
}

/** The acts on the ticked streams. The bar stays in sight while the list scrolls. */
export function BulkBar({ selected, onAct, onClear }: BulkBarProps) {
  return (
    <section className={classes.bar} aria-label="Selected streams">
      <p role="status">{countStreams(selected.length)} selected</p>
      {(['start', 'stop', 'delete'] as const).map((kind) => {
        const streams = listActedOn(kind, selected);
        const Icon = ICONS[kind];
        const { verb } = BULK_WORDS[kind];
        return (
          <Button
            key={kind}
            variant="default"
            size="sm"
            leftSection={<Icon size={15} aria-hidden />}
            disabled={streams.length === 0}
            onClick={() => onAct(kind, streams)}
          >
            {verb} {streams.length > 0 && streams.length}
          </Button>
        );
      })}
      <CloseButton aria-label="Select none" onClick={onClear} />
    </section>
  );
}
