import { createFileRoute } from '@tanstack/react-router';
import { MembersPage } from '../screens/members/members-page';

export const Route = createFileRoute('/w/$workspace/members')({ component: MembersPage });
