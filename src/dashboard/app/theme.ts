/**
 * The look that Mantine's components take on. Colours are CSS variables of theme.css: the page is served under a
 * Content-Security-Policy without inline styles, so Mantine generates none (no CSS variables, no global classes, and no
 * component here uses responsive style props).
 */
import { createTheme, type MantineThemeOverride, type VariantColorsResolver } from '@mantine/core';

const VARIANTS: Record<string, ReturnType<VariantColorsResolver>> = {
  filled: {
    background: 'var(--ls-accent)',
    hover: 'var(--ls-accent-hover)',
    color: 'var(--ls-on-accent)',
    border: '1px solid transparent',
  },
  danger: {
    background: 'var(--ls-live)',
    hover: 'var(--ls-live-hover)',
    color: '#fff',
    border: '1px solid transparent',
  },
  subtle: {
    background: 'transparent',
    hover: 'var(--ls-hover)',
    color: 'var(--ls-dim)',
    border: '1px solid transparent',
  },
};

const QUIET = {
  background: 'var(--ls-raised)',
  hover: 'var(--ls-hover)',
  color: 'var(--ls-text)',
  border: '1px solid var(--ls-line-strong)',
};

export const theme: MantineThemeOverride = createTheme({
  variantColorResolver: ({ variant }) => VARIANTS[variant] ?? QUIET,
  cursorType: 'pointer',
  defaultRadius: 'md',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { variant: 'filled' } },
    ActionIcon: { defaultProps: { variant: 'subtle', size: 36 } },
    Checkbox: { defaultProps: { color: 'var(--ls-accent)', iconColor: 'var(--ls-on-accent)' } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close this message' } } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300, events: { hover: true, focus: true, touch: false } } },
  },
});
