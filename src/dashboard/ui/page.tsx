/** The common parts of pages: a head, an empty state, and a bar that fills. */
import { Button, Skeleton, VisuallyHidden } from '@mantine/core';
import type { TablerIcon } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import classes from './page.module.css';

/** Sets the window's title, which ends with the product's name. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · loopstream`;
  }, [title]);
}

interface PageHeadProps {
  title: ReactNode;
  lead?: ReactNode;
  children?: ReactNode;
}

/** `children`: the acts of the page. */
export function PageHead({ title, lead, children }: PageHeadProps) {
  return (
    <div className={classes.head}>
      <div className={classes.title}>
        <h1>{title}</h1>
        {lead && <p className={classes.lead}>{lead}</p>}
      </div>
      {children && <div className={classes.actions}>{children}</div>}
    </div>
  );
}

interface EmptyProps {
  icon: TablerIcon;
  title: string;
  children: ReactNode;
  action?: ReactNode;
}

/** Says what to do where there is nothing yet. */
export function Empty({ icon: Icon, title, children, action }: EmptyProps) {
  return (
    <section className={classes.empty} aria-label={title}>
      <Icon size={38} stroke={1.4} aria-hidden />
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
    </section>
  );
}

/** Placeholders of rows that are being loaded. */
export function RowsLoading({ what, rows = 3 }: { what: string; rows?: number }) {
  return (
    <div className={classes.list} aria-busy="true">
      <VisuallyHidden role="status">Loading {what}</VisuallyHidden>
      {Array.from({ length: rows }, (_, i) => `row ${i}`).map((key) => (
        <div key={key} className={classes.row} aria-hidden>
          <Skeleton height={18} width="40%" />
          <Skeleton height={14} width="65%" mt={12} />
        </div>
      ))}
    </div>
  );
}

/** Asks for the next page of a list. */
export const More = ({ loading, onClick }: { loading: boolean; onClick: () => void }) => (
  <div className={classes.more}>
    <Button variant="default" loading={loading} onClick={onClick}>
      Show more
    </Button>
  </div>
);

interface BarProps {
  /** From 0 to 1; undefined while nobody knows. */
  value: number | undefined;
  label: string;
  /** Read aloud in place of the percentage. */
  text?: string;
}

export const Bar = ({ value, label, text }: BarProps) => (
  <progress className={classes.bar} max={1} value={value} aria-label={label} aria-valuetext={text} />
);
