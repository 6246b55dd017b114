/** A thing in a list: its kind, facts about it, its acts, and below them its progress. */
import type { ReactNode } from 'react';
import { Name } from './name.tsx';
import classes from './page.module.css';

interface RowProps {
  name: string;
  icon?: ReactNode;
  /** In place of the icon. */
  picture?: ReactNode;
  /** In place of the name, where that leads somewhere. */
  title?: ReactNode;
  /** Under the name. */
  facts: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
  'data-testid': string;
  'data-state'?: string;
}

export function Row({ name, icon, picture, title, facts, actions, children, ...data }: RowProps) {
  return (
    <article className={classes.row} aria-label={name} {...data}>
      {picture ?? <div className={classes.kind}>{icon}</div>}
      <div className={classes.facts}>
        <h2>{title ?? <Name>{name}</Name>}</h2>
        {facts}
      </div>
      <div className={classes.rowActions}>{actions}</div>
      {children}
    </article>
  );
}
