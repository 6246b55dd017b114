/** Lists the differences between two versions, one line a clip. */
import { Skeleton } from '@mantine/core';
import { IconArrowsUpDown, IconMinus, IconPlus, type TablerIcon } from '@tabler/icons-react';
import { problemText } from '../../api/problem.ts';
import page from '../../ui/page.module.css';
import { useUploadsById } from '../uploads/queries.ts';
import { computeDifference, type DifferenceLine } from './difference.ts';
import classes from './playlists.module.css';
import { useDifference } from './queries.ts';
import { apartText, lineText, MODE_WORDS } from './text.ts';

const ICONS: Record<DifferenceLine['what'], TablerIcon> = {
  added: IconPlus,
  removed: IconMinus,
  moved: IconArrowsUpDown,
};
const NO_UPLOADS = new Map();

export function Difference({ id, from, to }: { id: string; from: number; to: number }) {
  const { data, error } = useDifference(id, from, to);
  const lines = data ? computeDifference(data.before, data.diff.changes) : [];
  const uploads = useUploadsById(lines.map(({ objectID }) => objectID)) ?? NO_UPLOADS;
  if (error) return <p className={page.dim}>{problemText(error)}</p>;
  if (!data) return <Skeleton height={18} width="60%" />;
  const { mode, notWithin, rules } = data.diff;
  return (
    <ul className={classes.lines} aria-label={`Changes in version ${to}`}>
      {mode && <li>Played {MODE_WORDS[mode].toLowerCase()} from then on</li>}
      {notWithin && <li>{apartText(notWithin)} from then on</li>}
      {rules && <li>{rules.length === 0 ? 'Without rules from then on' : 'Other rules from then on'}</li>}
      {lines.map((line) => {
        const Icon = ICONS[line.what];
        return (
          <li key={`${line.what} ${line.place} ${line.objectID}`} data-what={line.what}>
            <Icon size={15} stroke={2} aria-hidden /> {lineText(line, uploads)}
          </li>
        );
      })}
      {lines.length === 0 && !mode && !notWithin && !rules && (
        <li>The clips and their order are the same. Only the name differs.</li>
      )}
    </ul>
  );
}
