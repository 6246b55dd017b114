/** Commands to copy. */
import { Button, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import classes from './snippet.module.css';

export function Snippet({ text, label }: { text: string; label: string }) {
  return (
    <div className={classes.snippet}>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button
            className={classes.copy ?? ''}
            size="compact-sm"
            variant="default"
            leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
            onClick={copy}
          >
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1). */}
      <section className={classes.text} aria-label={label} tabIndex={0}>
        <pre>{text}</pre>
      </section>
    </div>
  );
}
