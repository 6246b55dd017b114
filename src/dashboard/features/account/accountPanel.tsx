import { type ReactNode, useId } from 'react';
import classes from './account.module.css';

export function AccountPanel({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <div>
        <h2 id={id}>{title}</h2>
        {lead && <p className={classes.dim}>{lead}</p>}
      </div>
      {children}
    </section>
  );
}
