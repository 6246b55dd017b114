import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './tag.module.css';
import type { Tone } from './tone.ts';

/** A state in a word. Colour never stands alone: each has an icon too. */
export function Tag({ tone, icon: Icon, children }: { tone: Tone; icon: TablerIcon; children: ReactNode }) {
  return (
    <span className={`${classes.badge} ${classes.tag}`} data-tone={tone}>
      <Icon size={14} stroke={2} aria-hidden />
      {children}
    </span>
  );
}
