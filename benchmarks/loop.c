/* What one would write in C: a loop over runs, rounds and arms. Compiled with gcc -O3 -march=native by c_loop.py.
 *
 * Every policy comes in two forms. The literal one evaluates its formula as it is printed. The tuned one does what an
 * expert would do by hand: tables of logarithms and inverses, one division per index, and whatever depends on an arm's
 * rewards alone worked out when a reward comes in, not in every round.
 *
 * Rewards and random numbers are those of the library, so that both make the same choices: the j-th pull of an arm is
 * made of mix64(key + j * golden), with a key of seed, run and arm (splitmix64). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

static const uint64_t GOLDEN = 0x9E3779B97F4A7C15u, REWARDS = 1, POLICY = 2;

INLINE uint64_t mix64(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

INLINE uint64_t fold(uint64_t key, uint64_t number) { return mix64(key + (number + 1) * 0xD1342543DE82EF95u); }

INLINE uint64_t stream_key(uint64_t seed, uint64_t domain, uint64_t run) {
    return fold(fold(mix64(seed), domain), run);
}

INLINE double unit(uint64_t bits) { return ((double)(int64_t)(bits >> 12) + 0.5) * 0x1p-52; }

INLINE double uniform(uint64_t key, uint64_t which) { return unit(mix64(key + (which + 1) * GOLDEN)); }

INLINE double normal(uint64_t key, uint64_t which) { /* Box & Muller */
    uint64_t pair = which & ~(uint64_t)1, word = mix64(key + (pair + 2) * GOLDEN);
    double radius = sqrt(-2.0 * log(uniform(key, pair)));
    double angle = unit(word) * 1.5707963267948966 - 0.7853981633974483;
    if (((word >> 1) ^ which) & 1) return radius * (word & 1 ? -cos(angle) : cos(angle));
    return radius * sin(angle);
}

INLINE double gamma_draw(uint64_t key, double shape) { /* Marsaglia & Tsang */
    double d = shape - 1.0 / 3.0;
    for (uint64_t which = 8;; which += 4) {
        double x = normal(key, which), z = x / sqrt(9.0 * d), v = 1.0 + z, draw = d * (v * v * v);
        double u = uniform(key, which + 2);
        if ((1.0 - u) * fmin(1.0, v) - 0.75 * d * z * z * z * z >= 0.0) return draw;
        if (draw > 0.0 && log(u) < 0.5 * x * x + d * (1.0 - draw / d + log(draw / d))) return draw;
    }
}

typedef struct {
    uint64_t seed;
    int64_t runs, horizon, count, pilot, coins;
    const double *loc, *scale; /* of each arm */
    const double *pool;        /* quantile tables, or NULL for uniform arms */
    const int64_t *start;      /* of an arm's table */
    double L, c;               /* regulariser, width */
    int64_t window;
    double discount;
    int64_t *final;   /* runs x arms */
    int32_t *choices; /* runs x horizon, or NULL */
} game_t;

INLINE double reward(const game_t *g, int64_t i, uint64_t key, int64_t pull) {
    double u = unit(mix64(key + (uint64_t)pull * GOLDEN));
    if (g->coins) return u < g->loc[i] ? 1.0 : 0.0;
    if (!g->pool) return g->loc[i] + g->scale[i] * u;
    double p = u < 0.5 ? u : 1.0 - u;
    uint64_t bits;
    memcpy(&bits, &p, 8);
    double f = (double)(int64_t)(bits & ((1ull << 46) - 1)) * 0x1p-46;
    int64_t cell = (1021 - (int64_t)(bits >> 52)) * 64 + (int64_t)((bits >> 46) & 63);
    const double *a = g->pool + g->start[i] + (u < 0.5 ? 0 : 52 * 64 * 4) + cell * 4;
    return g->loc[i] + g->scale[i] * (((a[3] * f + a[2]) * f + a[1]) * f + a[0]);
}

typedef struct {
    uint64_t key, policy_key;
    int64_t seen;
    double pulls, sum1, sum2, sum3, sum4, anchor; /* pulls: their weight, where rewards are forgotten */
    double mean, variance, second, maximum;
    double root, h, W, inverse; /* kept by the tuned forms: 1/sqrt(s), estimate and spread, 1/(s - 2) */
} arm_t;

enum { UCB_RSSR, UCB1, SF_UCB, SF_IMED, MVTS, MVTS_AUTHORS };

/* Estimate h and spread W of the signed root of RSSR (see policies/scale_free.py). */
INLINE void scale_free(arm_t *a, double L) {
    double s = a->pulls, m1 = a->sum1 / s, m2 = a->sum2 / s, m3 = a->sum3 / s, m4 = a->sum4 / s;
    double third = m3 - m1 * (3.0 * m2 - 2.0 * m1 * m1);
    double fourth = fmax(0.0, m4 - m1 * (4.0 * m3 - m1 * (6.0 * m2 - 3.0 * m1 * m1)));
    double v = a->variance, d = L + v, share = s / (s + 10.0), slope = -0.5 * (a->mean / d);
    double estimated = v + 2.0 * slope * share * third +
                       slope * slope * (share * fourth + (1.0 - share) * 3.0 * v * v - v * v);
    double floor = 0.25 * (v + 2.0 * slope * slope * v * v);
    a->h = a->mean / sqrt(d);
    a->W = v <= 1e-15 * a->mean * a->mean ? 0.5 : (estimated > floor ? estimated : floor) / d;
}

INLINE void summarise(arm_t *a, int policy, int tuned, double L) {
    double inverse = 1.0 / a->pulls, shifted = a->sum1 * inverse;
    double variance = a->pulls > 1.0 ? (a->sum2 - a->sum1 * shifted) / (a->pulls - 1.0) : 0.0;
    a->mean = a->anchor + shifted;
    a->variance = variance > 0.0 ? variance : 0.0;
    a->second = a->sum2 * inverse + a->anchor * (2.0 * shifted + a->anchor);
    if (!tuned) return;
    a->root = 1.0 / sqrt(a->pulls);
    if (policy == SF_UCB || policy == SF_IMED) {
        scale_free(a, L);
        a->inverse = 1.0 / (a->pulls - 2.0);
    }
}

INLINE void take(arm_t *a, double x, int powers) {
    if (a->seen == 0) a->anchor = x == floor(x) && fabs(x) <= 1024.0 ? 0.0 : x, a->maximum = x;
    double d = x - a->anchor;
    a->seen++;
    a->pulls += 1.0;
    a->sum1 += d;
    a->sum2 += d * d;
    if (powers) a->sum3 += d * d * d, a->sum4 += d * d * d * d;
    if (x > a->maximum) a->maximum = x;
}

INLINE void drop(arm_t *a, double d) {
    a->pulls -= 1.0;
    a->sum1 -= d;
    a->sum2 -= d * d;
    a->sum3 -= d * d * d;
    a->sum4 -= d * d * d * d;
}

/* Index of an arm after t rounds; `rounds` is what stands for t in confidence terms, `lead` the largest estimate. */
INLINE double index_of(const arm_t *a, int policy, int tuned, int64_t t, double radius, double rounds, double lead,
                       const game_t *g, const double *logs) {
    if (policy == UCB1) return a->mean + (tuned ? radius * a->root : sqrt(2.0 * log(rounds) / a->pulls));
    if (policy == UCB_RSSR) {
        double e = tuned ? radius * a->root : sqrt(2.0 * log(rounds) / a->pulls), d = g->L + a->variance;
        double room = d - 3.0 * e;
        if (!(room > 0.0)) return INFINITY;
        if (tuned) return (a->mean * a->mean * room + (d + a->second + 2.0 * e) * e) / (d * room);
        return a->mean * a->mean / d + (d + a->second + 2.0 * e) * e / (d * room);
    }
    if (policy == SF_UCB) {
        if (tuned) return a->h + sqrt(a->W * expm1(fmin(g->c * radius * radius * a->inverse, 200.0)));
        arm_t b = *a;
        scale_free(&b, g->L);
        return b.h + sqrt(b.W * expm1(fmin(g->c * 2.0 * log(rounds) / (a->pulls - 2.0), 200.0)));
    }
    if (policy == SF_IMED) {
        arm_t b = *a;
        if (!tuned) scale_free(&b, g->L);
        double behind = lead - b.h, ratio = behind * behind > 0.0 ? behind * behind / b.W : 0.0;
        return -(0.5 * (a->pulls - 2.0) * log1p(ratio) + (tuned ? logs[a->seen] : log(a->pulls)));
    }
    uint64_t key = fold(a->policy_key, (uint64_t)t);
    if (policy == MVTS) {
        double theta = a->mean + normal(key, 9) / sqrt(a->pulls);
        double rate = 0.5 + 0.5 * (a->pulls - 1.0) * a->variance;
        return theta * theta / (g->L + sqrt(rate / gamma_draw(key, 0.5 + 0.5 * a->pulls)));
    }
    double top = fmax(0.5, a->maximum), shape = 0.5 + a->pulls;
    if (tuned) return log(top) - log(uniform(key, 0)) / shape; /* grows with what follows */
    double u = top * pow(uniform(key, 0), -1.0 / shape);
    return 0.25 * u * u / (g->L + u * u / 12.0);
}

/* Sums of a window are made anew once per window, as in the library, and anchors stay where they are. */
INLINE void play(const game_t *g, int policy, int tuned, int full) {
    int64_t count = g->count, horizon = g->horizon, window = g->window;
    int powers = policy == SF_UCB || policy == SF_IMED, discounted = g->discount < 1.0;
    int forgets = window > 0 || discounted;
    arm_t *arms = malloc(sizeof(arm_t) * (size_t)count);
    double *radii = malloc(sizeof(double) * (size_t)(horizon + 1)), *logs = malloc(sizeof(double) * (size_t)(horizon + 1));
    double *ring = malloc(sizeof(double) * (size_t)(window + 1));
    int64_t *who = malloc(sizeof(int64_t) * (size_t)(window + 1));
    for (int64_t s = 1; s <= horizon && tuned; s++) logs[s] = log((double)s), radii[s] = sqrt(2.0 * logs[s]);
    for (int64_t r = 0; r < g->runs; r++) {
        uint64_t rewards = stream_key(g->seed, REWARDS, (uint64_t)r), own = stream_key(g->seed, POLICY, (uint64_t)r);
        memset(arms, 0, sizeof(arm_t) * (size_t)count);
        for (int64_t i = 0; i < count; i++) arms[i].key = fold(rewards, (uint64_t)i), arms[i].policy_key = fold(own, (uint64_t)i);
        for (int64_t i = 0; i < count; i++) g->final[r * count + i] = 0;
        for (int64_t t = 0; t < horizon; t++) {
            int64_t choice = t % count;
            if (t >= (full ? g->pilot : g->pilot * count)) {
                double rounds = (double)t, radius = 0.0, top = -INFINITY, lead = -INFINITY, fewest = INFINITY;
                if (window > 0 && window < t) rounds = (double)window;
                if (discounted) {
                    rounds = 0.0;
                    for (int64_t i = 0; i < count; i++) rounds += arms[i].pulls;
                }
                if (tuned) radius = discounted ? sqrt(2.0 * log(rounds)) : radii[(int64_t)rounds];
                if (policy == SF_IMED)
                    for (int64_t i = 0; i < count; i++) {
                        if (!tuned) scale_free(&arms[i], g->L);
                        if (arms[i].h > lead) lead = arms[i].h;
                    }
                choice = 0;
                if (forgets)
                    for (int64_t i = 0; i < count; i++)
                        if (arms[i].pulls < fewest) fewest = arms[i].pulls, choice = i;
                if (!forgets || fewest >= (double)g->pilot - 1e-9) {
                    choice = 0;
                    for (int64_t i = 0; i < count; i++) {
                        double v = index_of(&arms[i], policy, tuned, t, radius, rounds, lead, g, logs);
                        if (v > top || (v == INFINITY && top == INFINITY && arms[i].pulls < arms[choice].pulls))
                            top = v, choice = i;
                    }
                }
            }
            if (discounted)
                for (int64_t i = 0; i < count; i++) {
                    arm_t *a = &arms[i];
                    a->pulls *= g->discount, a->sum1 *= g->discount, a->sum2 *= g->discount;
                    a->sum3 *= g->discount, a->sum4 *= g->discount;
                }
            if (window > 0 && t >= window) {
                arm_t *gone = &arms[who[t % window]];
                drop(gone, ring[t % window]);
                if (t % window == 0) {
                    for (int64_t i = 0; i < count; i++)
                        arms[i].pulls = arms[i].sum1 = arms[i].sum2 = arms[i].sum3 = arms[i].sum4 = 0.0;
                    for (int64_t j = 1; j < window; j++) {
                        arm_t *a = &arms[who[j]];
                        double d = ring[j];
                        a->pulls += 1.0, a->sum1 += d, a->sum2 += d * d, a->sum3 += d * d * d, a->sum4 += d * d * d * d;
                    }
                    for (int64_t i = 0; i < count; i++) summarise(&arms[i], policy, tuned, g->L);
                } else
                    summarise(gone, policy, tuned, g->L);
            }
            for (int64_t i = full ? 0 : choice; i < (full ? count : choice + 1); i++) {
                take(&arms[i], reward(g, i, arms[i].key, arms[i].seen), powers);
                if (window > 0) who[t % window] = i, ring[t % window] = reward(g, i, arms[i].key, arms[i].seen - 1) - arms[i].anchor;
                if (!discounted) summarise(&arms[i], policy, tuned, g->L);
            }
            if (discounted)
                for (int64_t i = 0; i < count; i++) summarise(&arms[i], policy, tuned, g->L);
            g->final[r * count + choice]++;
            if (g->choices) g->choices[r * horizon + t] = (int32_t)choice;
        }
    }
    free(arms), free(radii), free(logs), free(ring), free(who);
}

#define FORMS(name, policy, full)                               \
    void name(const game_t *g) { play(g, policy, 0, full); }    \
    void name##_tuned(const game_t *g) { play(g, policy, 1, full); }
FORMS(ucb_rssr, UCB_RSSR, 0)
FORMS(ucb1, UCB1, 0)
FORMS(sf_ucb, SF_UCB, 0)
FORMS(sf_ucb_full, SF_UCB, 1)
FORMS(sf_imed, SF_IMED, 0)
FORMS(mvts, MVTS, 0)
FORMS(mvts_authors, MVTS_AUTHORS, 0)

/* Sequential halving: in each phase every arm alive is played as often, and the better half by RSSR of that phase's
 * rewards stays. */
void shsr(const game_t *g) {
    int64_t count = g->count, phases = 0;
    while ((int64_t)1 << phases < count) phases++;
    int64_t *alive = malloc(sizeof(int64_t) * (size_t)count), *done = malloc(sizeof(int64_t) * (size_t)count);
    double *value = malloc(sizeof(double) * (size_t)count);
    for (int64_t r = 0; r < g->runs; r++) {
        uint64_t rewards = stream_key(g->seed, REWARDS, (uint64_t)r);
        int64_t size = count;
        for (int64_t i = 0; i < count; i++) alive[i] = i, done[i] = 0;
        for (int64_t phase = 0; phase < phases; phase++) {
            int64_t pulls = g->horizon / (size * phases);
            for (int64_t p = 0; p < size; p++) {
                int64_t i = alive[p];
                uint64_t key = fold(rewards, (uint64_t)i);
                double anchor = reward(g, i, key, 0), sum1 = 0.0, sum2 = 0.0;
                for (int64_t j = 0; j < pulls; j++) {
                    double d = reward(g, i, key, done[i] + j) - anchor;
                    sum1 += d;
                    sum2 += d * d;
                }
                double shifted = sum1 / (double)pulls, mean = anchor + shifted;
                double variance = pulls > 1 ? fmax(0.0, (sum2 - sum1 * shifted) / (double)(pulls - 1)) : 0.0;
                value[p] = mean * mean / (g->L + variance);
                done[i] += pulls;
            }
            for (int64_t keep = (size + 1) / 2; size > keep;) {
                int64_t worst = 0;
                for (int64_t p = 1; p < size; p++)
                    if (value[p] <= value[worst]) worst = p;
                for (int64_t p = worst; p < size - 1; p++) alive[p] = alive[p + 1], value[p] = value[p + 1];
                size--;
            }
        }
        for (int64_t i = 0; i < count; i++) g->final[r * count + i] = done[i];
    }
    free(alive), free(done), free(value);
}

/* The floor of any simulation: draw uniform rewards and add them up, sixteen at a time, so that the compiler can use
 * vector instructions. Leaves how many were drawn. */
void bare_draws(const game_t *g) {
    double sums[16] = {0.0};
    int64_t each = g->horizon / g->count / 16 * 16;
    for (int64_t r = 0; r < g->runs; r++) {
        uint64_t rewards = stream_key(g->seed, REWARDS, (uint64_t)r);
        for (int64_t i = 0; i < g->count; i++) {
            uint64_t key = fold(rewards, (uint64_t)i);
            double loc = g->loc[i], scale = g->scale[i];
            for (int64_t j = 0; j < each; j += 16)
                for (int64_t k = 0; k < 16; k++)
                    sums[k] += loc + scale * unit(mix64(key + (uint64_t)(j + k) * GOLDEN));
            g->final[r * g->count + i] = each;
        }
    }
    double total = 0.0;
    for (int64_t k = 0; k < 16; k++) total += sums[k];
    if (total != total) g->final[0] = -1; /* the sums are used: they may not be optimised away */
}
