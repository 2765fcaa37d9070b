/* What one would write in C: a loop over runs, rounds and arms, no tricks. Compiled with gcc -O3 by c_loop.py.
 *
 * Rewards are those of the library, so that both must make the same choices: the j-th pull of an arm pays
 * low + width * unit(mix64(key + j * golden)), with a key made of seed, run and arm (splitmix64). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static const uint64_t GOLDEN = 0x9E3779B97F4A7C15u, REWARDS = 1;

static uint64_t mix64(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t fold(uint64_t key, uint64_t number) { return mix64(key + (number + 1) * 0xD1342543DE82EF95u); }

static uint64_t stream_key(uint64_t seed, uint64_t run) { return fold(fold(mix64(seed), REWARDS), run); }

static double unit(uint64_t bits) { return ((double)(int64_t)(bits >> 12) + 0.5) * 0x1p-52; }

typedef struct {
    uint64_t key;
    int64_t pulls;
    double sum, squares, mean, variance, second;
} arm_t;

static void start(arm_t *arms, int64_t count, uint64_t seed, int64_t run) {
    uint64_t key = stream_key(seed, (uint64_t)run);
    for (int64_t i = 0; i < count; i++) arms[i] = (arm_t){.key = fold(key, (uint64_t)i)};
}

static void take(arm_t *arm, double reward) {
    arm->pulls++;
    arm->sum += reward;
    arm->squares += reward * reward;
    arm->mean = arm->sum / arm->pulls;
    arm->second = arm->squares / arm->pulls;
    arm->variance = arm->pulls > 1 ? (arm->squares - arm->sum * arm->mean) / (arm->pulls - 1) : 0.0;
}

/* UCB-RSSR with two pulls per arm as a pilot, on uniform arms. final: runs x arms; choices: runs x horizon, or NULL. */
void ucb_rssr(uint64_t seed, int64_t first, int64_t runs, int64_t horizon, int64_t count, const double *low,
              const double *width, double L, int64_t *final, int32_t *choices) {
    arm_t *arms = malloc(sizeof(arm_t) * (size_t)count);
    for (int64_t r = 0; r < runs; r++) {
        start(arms, count, seed, first + r);
        for (int64_t t = 0; t < horizon; t++) {
            int64_t choice = t % count;
            if (t >= 2 * count) {
                double top = -INFINITY, twice_log = 2.0 * log((double)t);
                choice = 0;
                for (int64_t i = 0; i < count; i++) {
                    const arm_t *arm = &arms[i];
                    double epsilon = sqrt(twice_log / arm->pulls), d = L + arm->variance, index = INFINITY;
                    if (d > 3.0 * epsilon)
                        index = arm->mean * arm->mean / d +
                                (arm->variance + arm->second + 2.0 * epsilon + L) * epsilon / (d * (d - 3.0 * epsilon));
                    if (index > top || (index == INFINITY && top == INFINITY && arm->pulls < arms[choice].pulls)) {
                        top = index;
                        choice = i;
                    }
                }
            }
            arm_t *played = &arms[choice];
            take(played, low[choice] + width[choice] * unit(mix64(played->key + (uint64_t)played->pulls * GOLDEN)));
            if (choices) choices[r * horizon + t] = (int32_t)choice;
        }
        for (int64_t i = 0; i < count; i++) final[r * count + i] = arms[i].pulls;
    }
    free(arms);
}

/* UCB1 with one pull per arm as a pilot, on Bernoulli arms. */
void ucb1(uint64_t seed, int64_t first, int64_t runs, int64_t horizon, int64_t count, const double *probability,
          int64_t *final, int32_t *choices) {
    arm_t *arms = malloc(sizeof(arm_t) * (size_t)count);
    for (int64_t r = 0; r < runs; r++) {
        start(arms, count, seed, first + r);
        for (int64_t t = 0; t < horizon; t++) {
            int64_t choice = t;
            if (t >= count) {
                double top = -INFINITY, twice_log = 2.0 * log((double)t);
                choice = 0;
                for (int64_t i = 0; i < count; i++) {
                    double index = arms[i].mean + sqrt(twice_log / arms[i].pulls);
                    if (index > top) {
                        top = index;
                        choice = i;
                    }
                }
            }
            arm_t *played = &arms[choice];
            double u = unit(mix64(played->key + (uint64_t)played->pulls * GOLDEN));
            take(played, u < probability[choice] ? 1.0 : 0.0);
            if (choices) choices[r * horizon + t] = (int32_t)choice;
        }
        for (int64_t i = 0; i < count; i++) final[r * count + i] = arms[i].pulls;
    }
    free(arms);
}

/* The bare minimum of any simulation: draw uniform rewards and add them up, `pulls` for each arm. */
double draw_and_add(uint64_t seed, int64_t runs, int64_t pulls, int64_t count, const double *low, const double *width) {
    double total = 0.0;
    for (int64_t r = 0; r < runs; r++) {
        uint64_t key = stream_key(seed, (uint64_t)r);
        for (int64_t i = 0; i < count; i++) {
            uint64_t stream = fold(key, (uint64_t)i);
            double sum = 0.0;
            for (int64_t j = 0; j < pulls; j++) sum += low[i] + width[i] * unit(mix64(stream + (uint64_t)j * GOLDEN));
            total += sum;
        }
    }
    return total;
}
