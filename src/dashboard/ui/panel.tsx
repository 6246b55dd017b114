/** A part of a page with a heading of its own. */
import { type ReactNode, useId } from 'react';
import classes from './panel.module.css';

interface PanelProps {
  title: string;
  children: ReactNode;
  /** Stands beside the heading. */
  action?: ReactNode;
  /** Of no use on paper. */
  screenOnly?: boolean;
}

export function Panel({ title, children, action, screenOnly }: PanelProps) {
  const id = useId();
  return (
    <section className={classes.panel} aria-labelledby={id} data-screen-only={screenOnly}>
      <div className={classes.head}>
        <h2 id={id}>{title}</h2>
        {action}
      </div>
      {children}
    </section>
  );
}
