/** Frames the pages of signing in: one card, and beside it nothing that could be clicked by mistake. */
import { type ReactNode, useId } from 'react';
import { Logo } from '../../ui/logo.tsx';
import { useTitle } from '../../ui/page.tsx';
import { SchemeToggle } from '../../ui/schemeToggle.tsx';
import classes from './frame.module.css';

interface FrameProps {
  title: string;
  lead?: ReactNode;
  children?: ReactNode;
  /** Stands below the card: ways to other pages. */
  below?: ReactNode;
  /** Read out at once, for events that nobody has caused by a press. */
  alert?: boolean;
}

export function Frame({ title, lead, children, below, alert = false }: FrameProps) {
  const titleId = useId();
  // The window's title ends with the product's name, and says it once.
  useTitle(title.replace(/ to loopstream$/, ''));
  return (
    <main className={classes.page}>
      <div className={classes.corner}>
        <SchemeToggle />
      </div>
      <section className={classes.card} aria-labelledby={titleId}>
        <Logo size={44} />
        <div role={alert ? 'alert' : undefined}>
          <h1 id={titleId}>{title}</h1>
          {lead && <p className={classes.lead}>{lead}</p>}
        </div>
        {children}
      </section>
      {below && <div className={classes.below}>{below}</div>}
    </main>
  );
}
