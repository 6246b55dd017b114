import { ActionIcon, Tooltip, useMantineColorScheme } from '@mantine/core';
import { IconMoon, IconSun, IconSunMoon } from '@tabler/icons-react';

const SCHEMES = {
  auto: { next: 'light', label: 'Theme: as your system. Switch to light', icon: IconSunMoon },
  light: { next: 'dark', label: 'Theme: light. Switch to dark', icon: IconSun },
  dark: { next: 'auto', label: 'Theme: dark. Switch to your system’s', icon: IconMoon },
} as const;

export function SchemeToggle() {
  // Mantine stops transitions during the switch with an inline style, which the Content-Security-Policy forbids.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const { next, label, icon: Icon } = SCHEMES[colorScheme];
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} onClick={() => setColorScheme(next)}>
        <Icon size={19} stroke={1.7} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
