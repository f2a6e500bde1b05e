import { createFileRoute, Outlet } from '@tanstack/react-router';

export const Route = createFileRoute('/w/$workspace/audit-log')({ component: Outlet });
