import './styles.ts';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { LoopstreamError } from '../../service/client/index.ts';
import { SessionProvider } from '../api/context.tsx';
import { PageSession } from '../api/session.ts';
import { authApi } from '../features/account/authApi.ts';
import { guardDom } from '../lib/foreignDom.ts';
import { sharedStorage, tabStorage } from '../lib/tabStorage.ts';
import { createAppRouter } from './router.tsx';
import { theme } from './theme.ts';

const replaceHash = (hash: string): void =>
  history.replaceState(history.state, '', `${location.pathname}${location.search}${hash}`);

/** Between the tabs of a browser: who has signed in. */
const tabs = new BroadcastChannel('loopstream.person');
// The key leaves the address bar before anything else runs, the router included.
const session = new PageSession({
  hash: location.hash,
  replaceHash,
  storage: tabStorage,
  shared: sharedStorage,
  isLocal: /^(localhost|127\.0\.0\.1|\[::1\])$/.test(location.hostname),
  confirm: (question) => window.confirm(question),
  // Without it, a new tab asks for a sign-in.
  keepKey: (key) => void authApi.keepKey(key).catch(() => undefined),
  forgetKey: () => void authApi.forgetKey().catch(() => undefined),
  tellOthers: (personId) => tabs.postMessage(personId),
});
tabs.onmessage = ({ data }: MessageEvent<string | null>) => session.hearOthers(data);
window.addEventListener('hashchange', () => session.adopt({ hash: location.hash, replaceHash }));

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A server on this machine answers without a network, whatever the browser thinks of being online.
      networkMode: 'always',
      retry: (failures, error) => failures < 1 && error instanceof LoopstreamError && error.isPassing,
      retryDelay: (_, error) => ((error instanceof LoopstreamError && error.retryAfterSeconds) || 1) * 1000,
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

const router = createAppRouter();
const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');

guardDom(document.body);
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <Notifications position="bottom-right" notificationMaxHeight={480} />
      <QueryClientProvider client={queryClient}>
        <SessionProvider session={session}>
          <RouterProvider router={router} />
        </SessionProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
