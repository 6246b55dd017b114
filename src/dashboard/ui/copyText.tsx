/** A button that copies a text to the clipboard, and reads `Copied` then. */
import { Button, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';

interface CopyTextProps {
  text: string;
  /** The words of the button before. */
  label: string;
  /** Says which text it is, where the label does not. */
  ariaLabel?: string | undefined;
  className?: string;
}

export function CopyText({ text, label, ariaLabel, className = '' }: CopyTextProps) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button
          className={className}
          aria-label={ariaLabel}
          size="compact-sm"
          variant="default"
          leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
          onClick={copy}
        >
          {copied ? 'Copied' : label}
        </Button>
      )}
    </CopyButton>
  );
}
