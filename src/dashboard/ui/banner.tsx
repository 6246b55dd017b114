import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './banner.module.css';

interface BannerProps {
  icon: TablerIcon;
  children: ReactNode;
  'data-testid'?: string;
}

/** A line across the top of every page. */
export function Banner({ icon: Icon, children, ...data }: BannerProps) {
  return (
    <div className={classes.banner} role="status" {...data}>
      <Icon size={18} aria-hidden />
      <span>{children}</span>
    </div>
  );
}
