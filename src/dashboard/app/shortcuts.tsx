/** Follows the keys that work on every page, and loads what they open when it is first opened. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { readShortcut } from './shortcutKeys.ts';

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })));
const ShortcutHelp = lazy(() => import('./shortcutHelp.tsx').then(({ ShortcutHelp }) => ({ default: ShortcutHelp })));

const findSearchField = (): HTMLInputElement | undefined =>
  [...document.querySelectorAll<HTMLInputElement>('main input[type="search"]')].find((field) =>
    field.checkVisibility(),
  );

export function Shortcuts() {
  const [opened, setOpened] = useState<'palette' | 'help'>();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      // A press in a dialog is about that dialog.
      if (document.querySelector('dialog[open]')) return;
      const shortcut = readShortcut(event);
      if (shortcut === undefined) return;
      event.preventDefault();
      const field = shortcut === 'search' ? findSearchField() : undefined;
      if (!field) return setOpened(shortcut === 'help' ? 'help' : 'palette');
      field.focus();
      field.select();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  const close = () => setOpened(undefined);
  return (
    <>
      <Tooltip label="Find (Ctrl K)">
        <ActionIcon aria-label="Find" onClick={() => setOpened('palette')}>
          <IconSearch size={19} stroke={1.7} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Suspense>
        {opened === 'palette' && <Palette onClose={close} />}
        {opened === 'help' && <ShortcutHelp onClose={close} />}
      </Suspense>
    </>
  );
}
