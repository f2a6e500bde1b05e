import { createTheme, type CSSVariablesResolver, localStorageColorSchemeManager } from '@mantine/core';

/** The same key is in `index.html`, which sets the scheme before the first paint. */
export const colorSchemeManager = localStorageColorSchemeManager({ key: 'gatehouse-color-scheme' });

const ACCENT = [
  '#eef2ff',
  '#e0e7ff',
  '#c7d2fe',
  '#a5b4fc',
  '#818cf8',
  '#6366f1',
  '#4f46e5',
  '#4338ca',
  '#3730a3',
  '#312e81',
] as const;

export const theme = createTheme({
  primaryColor: 'accent',
  colors: { accent: ACCENT },
  primaryShade: { light: 6, dark: 4 },
  autoContrast: true,
  fontFamily: 'var(--sans)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  defaultRadius: 6,
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'xs', variant: 'default' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray', size: 28 } },
    TextInput: { defaultProps: { size: 'sm' } },
    PasswordInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm', allowDeselect: false, checkIconPosition: 'right' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    Modal: {
      defaultProps: {
        centered: true,
        overlayProps: { backgroundOpacity: 0.35 },
        transitionProps: { duration: 140 },
      },
    },
    Menu: { defaultProps: { shadow: 'md', transitionProps: { duration: 120 } } },
    Tooltip: { defaultProps: { openDelay: 250, withArrow: false } },
  },
});

const ours = {
  '--mantine-color-body': 'var(--ground)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-dimmed': 'var(--muted)',
  '--mantine-color-default': 'var(--ground)',
  '--mantine-color-default-hover': 'var(--surface)',
  '--mantine-color-default-color': 'var(--text-soft)',
  '--mantine-color-default-border': 'var(--border-strong)',
  '--mantine-color-placeholder': 'var(--muted)',
  '--mantine-color-error': 'var(--error)',
  '--mantine-color-anchor': 'var(--accent)',
};

/** Mantine's own surfaces use the tokens of `tokens.css`, which support both themes. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: ours,
  // Floating surfaces and inputs.
  dark: {
    ...ours,
    '--mantine-color-dark-6': 'var(--surface)',
    '--mantine-color-dark-4': 'var(--border-strong)',
  },
});
