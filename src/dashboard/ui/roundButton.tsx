/** A small button with only an icon. It is light, since a table has hundreds of them. */
import type { TablerIcon } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import classes from './roundButton.module.css';

interface RoundButtonProps extends Omit<ComponentProps<'button'>, 'type' | 'children'> {
  icon: TablerIcon;
  size?: number;
  'aria-label': string;
}

export const RoundButton = ({ icon: Icon, size = 18, className = '', ...button }: RoundButtonProps) => (
  <button {...button} type="button" className={`${classes.round} ${className}`.trim()}>
    <Icon size={size} aria-hidden />
  </button>
);
