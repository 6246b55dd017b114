/** The acts on a thing that are needed seldom, behind one button. */
import { Button, Popover } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconCopy, IconDots, type TablerIcon } from '@tabler/icons-react';
import { type Ref, useEffect, useRef, useState } from 'react';
import classes from './actMenu.module.css';
import { RoundButton } from './roundButton.tsx';

export interface Act {
  label: string;
  icon: TablerIcon;
  /** It takes something away. */
  isDanger?: boolean;
  run: () => void;
}

/** Copies text, and says what was copied. */
export const copyAct = (label: string, text: string): Act => ({
  label,
  icon: IconCopy,
  run: () =>
    void navigator.clipboard.writeText(text).then(
      () => notifications.show({ message: `Copied: ${text}`, autoClose: 4_000 }),
      () => notifications.show({ color: 'red', title: 'The browser does not allow copying', message: text }),
    ),
});

interface ActMenuProps {
  /** Names the button. */
  label: string;
  acts: readonly Act[];
  /** For rows of lists. */
  isSmall?: boolean;
}

interface MenuButtonProps {
  label: string;
  className?: string;
  ref?: Ref<HTMLButtonElement>;
  onClick: () => void;
  isSmall?: boolean | undefined;
  isOpen: boolean;
}

/** The menu adds to its class and attributes. */
function MenuButton({ label, isSmall = false, isOpen, className = '', ...button }: MenuButtonProps) {
  const common = { ...button, 'aria-label': label, 'aria-expanded': isOpen };
  if (!isSmall)
    return (
      <Button variant="default" px={10} className={className} {...common}>
        <IconDots size={18} aria-hidden />
      </Button>
    );
  return <RoundButton icon={IconDots} title="More" className={className} {...common} />;
}

function UsedMenu({ acts, ...look }: ActMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  // The focus comes back to where it was, so it has to be on this button first.
  useEffect(() => {
    button.current?.focus();
    setOpen(true);
  }, []);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <MenuButton {...look} ref={button} isOpen={isOpen} onClick={() => setOpen((before) => !before)} />
      </Popover.Target>
      <Popover.Dropdown className={classes.menu ?? ''} aria-label={look.label}>
        {acts.map(({ label, icon: Icon, isDanger, run }) => (
          <button
            key={label}
            type="button"
            data-danger={isDanger || undefined}
            onClick={() => {
              setOpen(false);
              run();
            }}
          >
            <Icon size={17} stroke={1.7} aria-hidden /> {label}
          </button>
        ))}
      </Popover.Dropdown>
    </Popover>
  );
}

/** A list shows hundreds of them: the menu itself is made when somebody first opens it. */
export function ActMenu(props: ActMenuProps) {
  const [isUsed, setUsed] = useState(false);
  if (isUsed) return <UsedMenu {...props} />;
  const { acts: _, ...look } = props;
  return <MenuButton {...look} isOpen={false} onClick={() => setUsed(true)} />;
}
