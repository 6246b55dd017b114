import { createRootRoute, createRoute, createRouter, useParams } from '@tanstack/react-router';
import { NotFound } from './shell/notices.tsx';
import { Shell } from './shell/shell.tsx';
import { StreamsPage } from './streams/listPage.tsx';
import { StreamPage } from './streams/streamPage.tsx';

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const streamsRoute = createRoute({ getParentRoute: () => rootRoute, path: '/', component: StreamsPage });
const streamRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/streams/$id',
  component: function StreamRoute() {
    const { id } = useParams({ from: '/streams/$id' });
    return <StreamPage key={id} id={id} />;
  },
});

const routeTree = rootRoute.addChildren([streamsRoute, streamRoute]);
export const createAppRouter = () => createRouter({ routeTree, scrollRestoration: true });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
