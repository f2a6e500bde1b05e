import { createFileRoute, Outlet } from '@tanstack/react-router';

export const Route = createFileRoute('/w/$workspace/api-keys')({ component: Outlet });
