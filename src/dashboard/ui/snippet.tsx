/** Commands to copy. */
import { CopyText } from './copyText.tsx';
import classes from './snippet.module.css';

export function Snippet({ text, label }: { text: string; label: string }) {
  return (
    <div className={classes.snippet}>
      <CopyText text={text} label="Copy" className={classes.copy ?? ''} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1). */}
      <section className={classes.text} aria-label={label} tabIndex={0}>
        <pre>{text}</pre>
      </section>
    </div>
  );
}
