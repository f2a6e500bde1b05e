import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/query-client';
import { reloadIfReachable } from './reload';
import { createAppRouter } from './router';
import { sessionQuery } from './session/session';
import './theme/tokens.css';
import './theme/fonts.css';
import './theme/mantine.css';
import './theme/base.css';
import { readNonce } from './theme/nonce';
import { colorSchemeManager, cssVariables, theme } from './theme/theme';

const nonce = readNonce();
const queryClient = createQueryClient({
  onSignedOut: () => queryClient.setQueryData(sessionQuery.queryKey, null),
  onRefused: () => void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey }),
});
const router = createAppRouter();

// A page opened before an update requests files that no longer exist: the new page has the current names.
window.addEventListener('vite:preloadError', () => void reloadIfReachable());

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        colorSchemeManager={colorSchemeManager}
        cssVariablesResolver={cssVariables}
        getStyleNonce={() => nonce ?? ''}
      >
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
