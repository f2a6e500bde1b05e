import { applyDecorators, Get, HttpStatus, Param, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Caller, RequireOneOf, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { visibilityOf } from '../../auth/permissions/visibility.js';
import { AnalyticsJobDto } from './jobs/analytics-job.dto.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { AnalyticsQuery, FacetQuery, GraphQuery, GroupsQuery, SeriesQuery } from './analytics-query.dto.js';
import { AnalyticsService, type GraphAnswer } from './analytics.service.js';
import {
  graphSchema,
  type ChartField,
  CACHE_SUMMARY,
  GROUP_ANSWER,
  METADATA_ANSWER,
} from './answer-schemas.js';
import { FEEDBACK_GRAPHS } from './feedback-graphs.js';
import { GRAPHS } from './graphs.js';
import { GROUPINGS, pathOfMetadata } from './groups.js';
import {
  type AnalyticsReach,
  type GroupsAnswer,
  type GroupsOutcome,
  GroupsService,
} from './groups.service.js';
import { FACETS, FacetsService, isFacet } from './facets.service.js';
import { FacetDto, OverviewDto } from './overview.dto.js';
import { OverviewService } from './overview.service.js';

const LONGEST_FIELD = 64;
const IN_BACKGROUND =
  'If that means reading more request logs than GATEHOUSE_ANALYTICS_DIRECT_ROWS, the response is 202 with a job that counts them in the background.';
const ACCEPTED = {
  type: AnalyticsJobDto,
  description: 'The requests are being counted. Read the job until it is finished.',
};
const POLL_AFTER_S = '2';

/** https://www.rfc-editor.org/rfc/rfc9110#name-202-accepted */
function answerWith(reply: FastifyReply, { groups, job }: GroupsOutcome): GroupsAnswer | AnalyticsJobDto {
  if (groups) return groups;
  const dto = AnalyticsJobDto.from(job, null);
  void reply.status(HttpStatus.ACCEPTED).headers({ location: dto.links.self, 'retry-after': POLL_AFTER_S });
  return dto;
}

/** Charts are rows of a table, and each becomes a handler of this controller below. */
@AdminController('analytics')
@Refusals()
export class AnalyticsController {
  constructor(
    readonly analytics: AnalyticsService,
    private readonly overviews: OverviewService,
    private readonly facets: FacetsService,
    private readonly groupings: GroupsService,
    private readonly workspaces: WorkspaceFinder,
  ) {}

  @Get('overview')
  @RequireScope('analytics.view')
  @ApiOperation({
    summary: 'Compare the figures of a period with those of the period before',
  })
  @ApiOkResponse({ type: OverviewDto })
  async overview(@Caller() caller: Principal, @Query() query: SeriesQuery): Promise<OverviewDto> {
    return this.overviews.read(await this.reach(caller, query), query);
  }

  @Get('facets/:field')
  @RequireOneOf('analytics.view', 'logs.list')
  @ApiOperation({ summary: 'List the most frequent values of a field of the request log' })
  @ApiParam({
    name: 'field',
    description: 'Field of the request log whose values to list.',
    enum: Object.keys(FACETS),
  })
  @ApiOkResponse({ type: FacetDto })
  async facet(
    @Caller() caller: Principal,
    @Query() query: FacetQuery,
    @Param('field') field: string,
  ): Promise<FacetDto> {
    if (!isFacet(field))
      throw new AppError('invalid_request', {
        detail: `"${field.slice(0, LONGEST_FIELD)}" has no facet. Fields: ${Object.keys(FACETS).join(', ')}.`,
      });
    return this.facets.read(await this.reach(caller, query), query, field);
  }

  @Get('summary/cache')
  @RequireScope('analytics.view')
  @ApiOperation({
    summary: 'Summarize the response cache',
    description:
      'Returns the hits of the response cache in the time range, and how much faster they are than other responses.',
  })
  @ApiOkResponse({ schema: CACHE_SUMMARY })
  async cacheSummary(
    @Caller() caller: Principal,
    @Query() query: AnalyticsQuery,
  ): Promise<Record<string, unknown>> {
    return this.analytics.cacheSummary(await this.reach(caller, query), query);
  }

  @Get(['groups/metadata/:metadataKey', 'metadata/:metadataKey'])
  @RequireScope('analytics.view')
  @ApiOperation({
    summary: 'Group requests by a metadata key',
    description: `Returns totals for each value of a metadata key. An empty value stands for requests without the key. ${IN_BACKGROUND}`,
  })
  @ApiParam({ name: 'metadataKey', description: 'Key of the metadata.', type: String })
  @ApiOkResponse({ schema: METADATA_ANSWER })
  @ApiAcceptedResponse(ACCEPTED)
  async metadataGroups(
    @Caller() caller: Principal,
    @Query() query: GroupsQuery,
    @Param('metadataKey') key: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<GroupsAnswer | AnalyticsJobDto> {
    const reach = await this.reach(caller, query);
    return answerWith(reply, await this.groupings.read(reach, query, pathOfMetadata(key)));
  }

  @Get('groups/:groupBy')
  @RequireScope('analytics.view')
  @ApiOperation({
    summary: 'Group requests by a property',
    description: `Returns totals for each value of a property. An empty value stands for requests without one. ${IN_BACKGROUND}`,
  })
  @ApiParam({
    name: 'groupBy',
    description: 'Property by which to group requests.',
    enum: Object.keys(GROUPINGS),
  })
  @ApiOkResponse({ schema: GROUP_ANSWER })
  @ApiAcceptedResponse(ACCEPTED)
  async groups(
    @Caller() caller: Principal,
    @Query() query: GroupsQuery,
    @Param('groupBy') groupBy: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<GroupsAnswer | AnalyticsJobDto> {
    return answerWith(reply, await this.groupings.read(await this.reach(caller, query), query, groupBy));
  }

  /** Every workspace that the caller can access, unless one is named. */
  async reach(caller: Principal, { workspace_slug: named }: AnalyticsQuery): Promise<AnalyticsReach> {
    const { seesOnlyOf } = caller;
    return {
      ...(await this.workspaces.narrowed(caller, named)),
      own: visibilityOf(caller),
      ...(seesOnlyOf === undefined ? {} : { seesOnlyOf }),
    };
  }
}

type GraphHandler = (this: AnalyticsController, caller: Principal, query: GraphQuery) => Promise<GraphAnswer>;

interface DescribedHandler {
  readonly name: string;
  readonly path: string;
  /** A compatible client's spelling; the document shows the other one. */
  readonly isAlias: boolean;
  readonly summaryText: string;
  readonly descriptionText: string;
  readonly fields: Parameters<typeof graphSchema>;
  readonly handle: GraphHandler;
}

/** Does for a handler from the table what decorators do for a method. */
function addHandler({
  name,
  path,
  isAlias,
  summaryText,
  descriptionText,
  fields,
  handle,
}: DescribedHandler): void {
  const { prototype } = AnalyticsController;
  // A separate function: decorators attach metadata to the function, and two spellings share `handle`.
  const value: GraphHandler = function (caller, query) {
    return handle.call(this, caller, query);
  };
  Object.defineProperty(value, 'name', { value: name });
  Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
  const decorate = applyDecorators(
    Get(`graphs/${path}`),
    RequireScope('analytics.view'),
    ApiOperation({
      summary: summaryText,
      description: descriptionText,
      ...(isAlias && { deprecated: true }),
    }),
    ApiOkResponse({ schema: graphSchema(...fields) }),
  );
  Reflect.defineMetadata('design:paramtypes', [Object, GraphQuery], prototype, name);
  Caller()(prototype, name, 0);
  Query()(prototype, name, 1);
  decorate(prototype, name, Object.getOwnPropertyDescriptor(prototype, name) ?? {});
}

type GraphDescription = Pick<
  DescribedHandler,
  'name' | 'summaryText' | 'descriptionText' | 'fields' | 'handle'
>;

/** One handler per spelling of the path: an operation of the document has one path. */
function addGraph(paths: readonly string[], { name, ...described }: GraphDescription): void {
  for (const [index, path] of paths.entries()) {
    const isAlias = index > 0;
    addHandler({ ...described, path, isAlias, name: isAlias ? `${name}BySdkPath` : name });
  }
}

for (const graph of GRAPHS)
  addGraph(graph.paths, {
    name: graph.name,
    summaryText: graph.summaryText,
    descriptionText: graph.descriptionText,
    fields: [
      Object.keys(graph.summary) as ChartField[],
      graph.entries
        ? ['status_code', 'count', 'refusals']
        : ['timestamp', ...(Object.keys(graph.points) as ChartField[])],
      'requests',
    ],
    handle: async function (caller, query) {
      return this.analytics.graph(await this.reach(caller, query), query, graph);
    },
  });

for (const graph of FEEDBACK_GRAPHS)
  addGraph(graph.paths, {
    name: graph.name,
    summaryText: graph.summaryText,
    descriptionText: graph.descriptionText,
    fields: [graph.summaryFields, graph.pointFields, 'feedback'],
    handle: async function (caller, query) {
      return this.analytics.feedbackGraph(await this.reach(caller, query), query, graph);
    },
  });
