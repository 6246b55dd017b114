import classes from './name.module.css';

interface NameProps {
  children: string;
  /** One line, cut at the end of the name: its last letters, which are on the left where it is written from right to left. */
  isCut?: boolean;
}

/** A name that a person typed. Its direction is its own, whatever stands around it; `quote` does the same within a text. */
export const Name = ({ children, isCut }: NameProps) => (
  <bdi className={isCut ? classes.cut : undefined}>{children}</bdi>
);
