import { applyDecorators, Get, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Caller, RequireScope } from '../../../auth/permissions/access.decorators.js';
import { AuthGuard } from '../../../auth/strategies/auth.guard.js';
import type { Principal } from '../../../auth/principal.js';
import { sightOf } from '../../../auth/permissions/sight.js';
import { requireScope } from '../../../auth/permissions/require-scope.js';
import { documentedFilters } from '../../../request-log/reading/filter-descriptions.js';
import { type ListQuery, parameterOf } from '../../../common/http/page.js';
import { AdminController } from '../../admin-controller.js';
import { OpenQuery, QueryParameter, Refusals } from '../../openapi/decorators.js';
import { WorkspaceFinder } from '../../tenancy/workspace-finder.service.js';
import { logConditionsOf, WORKSPACE_NAMES } from '../rows/log-query.js';
import { LiveLogs } from './live-logs.service.js';

const EVENT_STREAM = 'text/event-stream';

/** The filters of the list, for the OpenAPI document. */
const Filters = (): MethodDecorator =>
  applyDecorators(
    ...documentedFilters().map(([name, expects]) =>
      QueryParameter({ name, required: false, type: String, description: `Must be ${expects}.` }),
    ),
  );

@AdminController('logs/stream')
@Refusals()
export class LiveLogsController {
  constructor(
    private readonly live: LiveLogs,
    private readonly workspaces: WorkspaceFinder,
    private readonly callers: AuthGuard,
  ) {}

  @Get()
  @RequireScope('logs.list')
  @ApiOperation({ summary: 'Watch new requests as server-sent events' })
  @OpenQuery()
  @Filters()
  @QueryParameter({ name: 'workspace_id', required: false, type: String, description: 'Id or slug' })
  @ApiProduces(EVENT_STREAM)
  @ApiOkResponse({ schema: { type: 'string', description: 'Events: log, dropped, end' } })
  async watch(
    @Caller() caller: Principal,
    @Query() query: ListQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const conditions = logConditionsOf(query);
    const reach = await this.workspaces.narrowed(caller, parameterOf(query, ...WORKSPACE_NAMES));
    const place = `${reach.organizationId} ${reach.workspaceId ?? ''}`;
    this.live.checkRoom(place);
    reply.hijack();
    const { raw: response } = reply;
    response.writeHead(200, {
      'content-type': EVENT_STREAM,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-accel-buffering': 'no',
      'x-gateway-request-id': request.id,
    });
    response.flushHeaders();
    const check = async () => {
      const now = await this.callers.identify(request);
      requireScope(now, 'logs.list');
      return sightOf(now);
    };
    this.live.add({ response, place, ...reach, conditions, own: sightOf(caller), check });
  }
}
